import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCrumb } from '../lib/crumb.ts'
import { bytes, exact } from '../lib/format.ts'
import { useGet, useList } from '../lib/query.ts'
import type { FailureReport } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { LinkButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Disclosure, Drawer, Props, RawRecord, Section, Split } from '../ui/drawer.tsx'
import { FilterBar } from '../ui/filter.tsx'
import { Empty, ProblemNotice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ReportTabs } from './reports/tabs.tsx'

const COLUMNS: readonly Column<FailureReport>[] = [
  {
    key: 'arrived',
    title: 'Arrived',
    fixed: true,
    className: 'nw',
    cell: (report) => <Time at={report.arrived_at ?? report.created_at} />,
  },
  {
    key: 'domain',
    title: 'About',
    fixed: true,
    cell: (report) => (
      <span className="med brk">{report.reported_domain === '' ? 'not said' : report.reported_domain}</span>
    ),
  },
  {
    key: 'subject',
    title: 'Subject',
    priority: 2,
    cell: (report) => <span className="brk">{report.subject}</span>,
  },
  { key: 'ip', title: 'Source', cell: (report) => <span className="mono brk">{report.source_ip}</span> },
  { key: 'why', title: 'Failed', priority: 1, cell: (report) => report.auth_failure },
]

/** Single messages that failed, as some receivers report them (RFC 6591, RFC 9991). Headers only. */
export function FailureReportsPage() {
  const view = useView()
  const { id } = useParams({ strict: false })
  const list = useList<FailureReport>('/v1/reports/failures', {
    q: view.get('q'),
    from: view.get('from'),
    to: view.get('to'),
    limit: 100,
  })
  const filtered = ['q', 'from', 'to'].some((name) => view.get(name) !== undefined)
  return (
    <>
      <PageHead
        title="Failure reports"
        lead="Single messages that failed, reported at once. Their headers are kept, their bodies never."
        actions={
          <LinkButton icon="upload" href="/reports/upload">
            Upload
          </LinkButton>
        }
      />
      <FilterBar
        search="Domain or reporter"
        filters={[
          { name: 'from', label: 'Since', kind: 'date' },
          { name: 'to', label: 'Before', kind: 'date' },
        ]}
      />
      <ReportTabs current="failures" />
      <Split drawer={id === undefined ? undefined : <FailureDrawer key={id} id={id} list={list.items} />}>
        <Table
          name="failures"
          caption="Failure reports"
          columns={COLUMNS}
          list={list}
          rowId={(report) => report.id}
          rowName={(report) => `${report.reported_domain} ${report.subject ?? ''}`}
          href={(report) => view.at(`/reports/failures/${report.id}`)}
          current={id}
          empty={
            filtered ? (
              <Empty kind="match" title="No failure report matches">
                The filters leave nothing of what is here.
              </Empty>
            ) : (
              <Empty
                kind="yet"
                icon="mail"
                title="No failure reports yet"
                action={<LinkButton href="/reports/upload">Upload one</LinkButton>}
              >
                Few receivers send them; they come when the DMARC record has ruf= and fo=.
              </Empty>
            )
          }
        />
      </Split>
    </>
  )
}

/** `original_mail_from` -> Original mail from */
function title(name: string): string {
  const text = name.replaceAll('_', ' ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Shown above already, or elsewhere. */
const SHOWN_APART = new Set([
  'original_headers',
  'source_ip',
  'auth_failure',
  'arrival_date',
  'reported_domain',
  'fields',
])

/** Members with a plain value, as properties. */
function plainMembers(detail: Record<string, unknown>): (readonly [string, ReactNode])[] {
  return Object.entries(detail).flatMap(([name, value]) => {
    if (SHOWN_APART.has(name)) return []
    if (typeof value === 'string' && value !== '') return [[title(name), value] as const]
    if (typeof value === 'number' && name.endsWith('_date')) {
      return [[title(name), exact(new Date(value).toISOString())] as const]
    }
    if (typeof value === 'number') return [[title(name), String(value)] as const]
    if (Array.isArray(value) && value.every((part) => typeof part === 'string') && value.length > 0) {
      return [[title(name), value.join(', ')] as const]
    }
    return []
  })
}

function FailureDrawer({ id, list }: { id: string; list: readonly FailureReport[] }) {
  const view = useView()
  const answer = useGet<FailureReport & { detail: Record<string, unknown> }>(
    `/v1/reports/failures/${id}`,
    {},
    { poll: false },
  )
  const report = answer.data ?? list.find((entry) => entry.id === id)
  useCrumb(report?.reported_domain)
  const close = view.at('/reports/failures')
  const at = list.findIndex((entry) => entry.id === id)
  const neighbour = (step: number) => {
    const other = at === -1 ? undefined : list[at + step]
    return other === undefined ? undefined : view.at(`/reports/failures/${other.id}`)
  }
  if (report === undefined) {
    return (
      <Drawer title="Failure report" close={close}>
        <div className="pad">{answer.error !== null && <ProblemNotice error={answer.error} />}</div>
      </Drawer>
    )
  }
  const detail = answer.data?.detail ?? {}
  const headers = detail['original_headers']
  return (
    <Drawer
      title={report.reported_domain === '' ? 'Failure report' : report.reported_domain}
      sub={report.subject ?? undefined}
      previous={neighbour(-1)}
      next={neighbour(1)}
      close={close}
    >
      <Section title="The message">
        <Props
          items={[
            [
              'Source',
              <>
                <span className="mono">{report.source_ip ?? 'not said'}</span>
                {report.source_ip !== null && <CopyButton text={report.source_ip} what="address" />}
              </>,
            ],
            report.auth_failure !== null && ['Failed', report.auth_failure],
            report.arrived_at !== null && ['Arrived', exact(report.arrived_at)],
            ...plainMembers(detail),
          ]}
        />
      </Section>
      {typeof headers === 'string' && headers !== '' && (
        <Section title="Headers">
          <Disclosure summary="Headers of the reported message">
            <pre className="raw" tabIndex={0} aria-label="Headers of the reported message">
              {headers}
            </pre>
          </Disclosure>
        </Section>
      )}
      <FailureProperties report={report} />
    </Drawer>
  )
}

function FailureProperties({ report }: { report: FailureReport }) {
  return (
    <Section title="Properties">
      <Props
        items={[
          [
            'File',
            <span className="mono brk" key="file">
              {report.file.name}
            </span>,
          ],
          ['Read as', `${report.file.kind}, ${bytes(report.file.bytes)}`],
          ['Received', exact(report.created_at)],
          [
            'Id',
            <span className="mono brk" key="id">
              {report.id}
            </span>,
          ],
        ]}
      />
      <div className="mt-3">
        <RawRecord path={`/v1/reports/failures/${report.id}`} value={report} />
      </div>
    </Section>
  )
}
