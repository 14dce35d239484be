import { bytes, duration, exact, nowMs } from '../../lib/format.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Props } from '../../ui/drawer.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Figures, Panel } from '../../ui/panel.tsx'
import type { Instance } from './types.ts'

/** Below this the next nightly backup may not fit. */
const FREE_LOW_BYTES = 2_000_000_000

/** What runs, where its data is, how it is reached. */
export function InstanceOverview({ instance }: { instance: Instance }) {
  const { data, tls, resolver } = instance
  return (
    <>
      {data.free_bytes !== null && data.free_bytes < FREE_LOW_BYTES && (
        <Notice kind="high" alert>
          Only {bytes(data.free_bytes)} are free at {data.path}. When the disk is full, nothing can be
          changed.
        </Notice>
      )}
      <Panel title="Data" sub={<span className="mono">{data.path}</span>}>
        <Figures
          items={[
            { label: 'Database', value: bytes(data.database_bytes) },
            { label: 'Originals', value: bytes(data.blobs_bytes), note: 'reports as they were sent' },
            {
              label: 'Free on the disk',
              value: data.free_bytes === null ? 'unknown' : bytes(data.free_bytes),
            },
            {
              label: 'Running',
              value: duration(nowMs() - Date.parse(instance.started_at)),
              note: `since ${exact(instance.started_at)}`,
            },
          ]}
        />
      </Panel>
      <Panel title="This installation">
        <div className="kv">
          <Props
            items={[
              ['Version', instance.version],
              [
                'Address',
                <span key="a" className="mono brk">
                  {instance.base_url ?? 'not set'}
                </span>,
              ],
              ['TLS', <TlsText key="t" tls={tls} />],
              tls.fingerprint !== null && [
                'Fingerprint',
                <span key="f" className="flex g4">
                  <span className="mono brk">{tls.fingerprint}</span>
                  <CopyButton text={tls.fingerprint} what="fingerprint" />
                </span>,
              ],
              tls.not_after !== null && ['Certificate until', exact(tls.not_after)],
              [
                'Resolver',
                <span key="r">
                  {resolver.mode} <span className="t3 t12">{resolver.detail}</span>
                </span>,
              ],
              [
                'Id',
                <span key="i" className="flex g4">
                  <span className="mono brk">{instance.instance_id}</span>
                  <CopyButton text={instance.instance_id} what="id" />
                </span>,
              ],
            ]}
          />
        </div>
      </Panel>
    </>
  )
}

function TlsText({ tls }: { tls: Instance['tls'] }) {
  if (tls.mode === 'off') return <>none: plain HTTP on loopback only</>
  if (tls.mode === 'auto') return <>own authority and certificate</>
  if (tls.mode === 'files') return <>certificate from files</>
  if (tls.mode === 'proxy') return <>ends at the proxy before it</>
  return <>{tls.mode}</>
}
