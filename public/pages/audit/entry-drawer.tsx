import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { bytes, count } from '../../lib/format.ts'
import { useGet } from '../../lib/query.ts'
import { useView } from '../../lib/view.ts'
import { CopyButton, RecordBox } from '../../ui/copy.tsx'
import { Drawer, Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { checkLink } from './chain.ts'
import type { Entry, FullEntry } from './types.ts'
import { OUTCOMES, groupHash } from './verdict.ts'

export const actorName = ({ actor }: Pick<Entry, 'actor'>): string =>
  actor.name ?? (actor.type === 'system' ? 'Wardpost' : (actor.id ?? actor.type))

interface Props_ {
  seq: string
  list: readonly Entry[]
  titles: ReadonlyMap<string, string>
}

/** One entry: what happened, the bytes that were hashed, and its place in the chain, checked again here. */
export function EntryDrawer({ seq, list, titles }: Props_) {
  const view = useView()
  const path = `/v1/audit/entries/${seq}`
  const { data: entry, error } = useGet<FullEntry>(path, {}, { poll: false })
  const close = view.at('/audit')
  const at = list.findIndex((row) => String(row.seq) === seq)
  const neighbour = (step: number) => {
    const row = at === -1 ? undefined : list[at + step]
    return row === undefined ? undefined : view.at(`/audit/${row.seq}`)
  }
  if (entry === undefined) {
    return (
      <Drawer title={`Entry ${seq}`} close={close}>
        <div className="pad">
          {error === null ? <span className="sk" /> : <ProblemNotice error={error} />}
        </div>
      </Drawer>
    )
  }
  const outcome = OUTCOMES[entry.outcome]
  return (
    <Drawer
      title={titles.get(entry.action) ?? entry.action}
      sub={
        <>
          Entry {count(entry.seq)} · <span className="mono">{entry.action}</span>
        </>
      }
      tag={<State kind={outcome?.kind ?? 'none'}>{outcome?.word ?? entry.outcome}</State>}
      close={close}
      previous={neighbour(-1)}
      next={neighbour(1)}
    >
      <Section title="What happened">
        <Props
          items={[
            ['When', <Time key="t" at={entry.ts} as="exact" />],
            ['Who', <Who key="w" entry={entry} />],
            entry.actor.ip !== null && [
              'From',
              <span key="i" className="mono">
                {entry.actor.ip}
              </span>,
            ],
            entry.target !== null && ['To what', <Target key="x" target={entry.target} />],
            entry.request_id !== null && [
              'Request',
              <Copied key="r" text={entry.request_id} what="request id" />,
            ],
            ...rowsOf(entry.detail),
            ...rowsOf(entry.personal ?? {}),
          ]}
        />
      </Section>
      <Section title="Bytes that were hashed" count={bytes(new TextEncoder().encode(entry.canonical).length)}>
        <RecordBox text={entry.canonical} what="canonical bytes" />
      </Section>
      <ChainSection entry={entry} />
      <div className="sec">
        <RawRecord path={path} value={entry} />
      </div>
    </Drawer>
  )
}

function Copied({ text, what }: { text: string; what: string }) {
  return (
    <>
      <span className="mono">{text}</span>
      <CopyButton text={text} what={what} />
    </>
  )
}

function Who({ entry }: { entry: Entry }) {
  const id = entry.actor.key_id ?? entry.actor.id
  return (
    <>
      {actorName(entry)} <span className="t3 t12">{entry.actor.type}</span>
      {id !== null && (
        <A className="t12" href={`/audit?actor=${encodeURIComponent(id)}`}>
          all of theirs
        </A>
      )}
    </>
  )
}

const TARGET_PATHS: Readonly<Record<string, string>> = {
  domain: '/domains/',
  report: '/reports/',
  key: '/settings/keys/',
}

function Target({ target }: { target: NonNullable<Entry['target']> }) {
  const path = TARGET_PATHS[target.type]
  return (
    <>
      {target.type}{' '}
      {target.id === null ? null : path === undefined ? (
        <span className="mono">{target.id}</span>
      ) : (
        <A className="mono" href={path + target.id}>
          {target.id}
        </A>
      )}
    </>
  )
}

/** Members of the detail as properties; nested ones as JSON. */
function rowsOf(detail: Record<string, unknown>): (readonly [string, ReactNode])[] {
  return Object.entries(detail).map(([name, value]) => [
    name.replaceAll('_', ' '),
    typeof value === 'object' && value !== null ? (
      <code key={name} className="brk">
        {JSON.stringify(value)}
      </code>
    ) : (
      String(value)
    ),
  ])
}

function ChainSection({ entry }: { entry: FullEntry }) {
  const check = useQuery({
    queryKey: ['audit-link', entry.seq, entry.hash, entry.canonical],
    queryFn: () => checkLink(entry),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Section title="Place in the chain">
      <Props
        items={[
          [
            'Hash before',
            <span key="b" className="mono">
              {entry.prev_hash === null ? 'none, this is the first entry' : groupHash(entry.prev_hash)}
            </span>,
          ],
          [
            'Of the bytes',
            <span key="e" className="mono">
              {groupHash(entry.entry_hash)}
            </span>,
          ],
          [
            'Hash',
            <span key="h" className="mono">
              {groupHash(entry.hash)} <CopyButton text={entry.hash} what="hash" />
            </span>,
          ],
          ['Checked here', <LinkState key="c" result={check.data} />],
        ]}
      />
    </Section>
  )
}

function LinkState({ result }: { result: Awaited<ReturnType<typeof checkLink>> | undefined }) {
  if (result === 'match') return <State kind="pass">This browser computes the same hash</State>
  if (result === 'differ') return <State kind="fail">This browser computes another hash</State>
  if (result === 'first')
    return <State kind="none">The first hash needs the installation’s id: verify the range</State>
  if (result === 'unavailable')
    return <State kind="none">Only over HTTPS: the browser offers no SHA-256 here</State>
  return <State kind="pending">Computing</State>
}
