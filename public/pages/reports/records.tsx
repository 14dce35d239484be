import { useState } from 'react'
import { count } from '../../lib/format.ts'
import { useList } from '../../lib/query.ts'
import type { Report, ReportRecord } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Seg } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Props, Section } from '../../ui/drawer.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { StateMark } from '../../ui/state.tsx'
import { LoadMore } from '../../ui/table.tsx'

const SHOWN = [
  { value: 'fail', label: 'Failed' },
  { value: 'all', label: 'All' },
] as const

/** The rows of a report; those that failed are shown first. */
export function Records({ id, report }: { id: string; report: Report }) {
  const view = useView()
  const some_failed = report.totals.fail > 0
  const asked = view.get('result')
  const shown = asked === 'all' || !some_failed ? 'all' : 'fail'
  const list = useList<ReportRecord>(
    `/v1/reports/${id}/records`,
    { limit: 50, ...(shown === 'fail' ? { result: 'fail' } : {}) },
    { poll: false },
  )
  return (
    <Section
      title="Records"
      count={
        list.isPending
          ? undefined
          : `${count(list.items.length)}${list.hasMore ? '+' : ''} ${shown === 'fail' ? 'that failed both checks' : 'in all'}`
      }
      actions={
        some_failed && (
          <Seg
            label="Which records"
            value={shown}
            options={SHOWN}
            onChange={(value) => view.set({ result: value === 'all' ? 'all' : undefined })}
          />
        )
      }
    >
      {list.error !== null && <ProblemNotice error={list.error} retry={list.refetch} />}
      {!list.isPending && list.error === null && list.items.length === 0 && (
        <Empty kind="done" title={shown === 'fail' ? 'Nothing failed' : 'The report has no records'}>
          {shown === 'fail' ? 'Every message passed DKIM or SPF.' : 'The receiver saw no mail in these days.'}
        </Empty>
      )}
      {list.items.length > 0 && <RecordTable records={list.items} domain={report.domain} />}
      <LoadMore list={list} />
    </Section>
  )
}

function RecordTable({ records, domain }: { records: readonly ReportRecord[]; domain: string }) {
  return (
    <div className="list">
      <table className="t t--sub t--plain rrow">
        <caption className="vh">Records of the report</caption>
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col" className="num">
              Messages
            </th>
            <th scope="col">DKIM</th>
            <th scope="col">SPF</th>
            <th scope="col" className="p1">
              Receiver
            </th>
            <th scope="col">
              <span className="vh">Details</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {records.map((record, index) => (
            <RecordRow key={record.n ?? index} record={record} domain={domain} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function RecordRow({ record, domain }: { record: ReportRecord; domain: string }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <tr>
        <td>
          <span className="mono brk">{record.source_ip ?? 'no address'}</span>
          {record.header_from !== null && record.header_from !== domain && (
            <span className="sub brk">{record.header_from}</span>
          )}
        </td>
        <td className="num">{count(record.count)}</td>
        <td>
          <Aligned on={record.dkim_aligned} what="DKIM" />
        </td>
        <td>
          <Aligned on={record.spf_aligned} what="SPF" />
        </td>
        <td className="p1 nw">{disposition(record)}</td>
        <td className="num">
          <button
            type="button"
            className="ib ib--s"
            aria-expanded={open}
            aria-label={`Details of ${record.source_ip ?? 'this record'}`}
            onClick={() => setOpen(!open)}
          >
            <Icon name={open ? 'up' : 'down'} />
          </button>
        </td>
      </tr>
      {open && (
        <tr className="exp">
          <td colSpan={6}>
            <RecordDetail record={record} />
          </td>
        </tr>
      )}
    </>
  )
}

function Aligned({ on, what }: { on: boolean; what: string }) {
  return <StateMark kind={on ? 'pass' : 'fail'} word={`${what} ${on ? 'aligned' : 'not aligned'}`} />
}

const DISPOSITIONS: Record<string, string> = {
  none: 'delivered',
  pass: 'delivered',
  quarantine: 'quarantined',
  reject: 'rejected',
}

function disposition(record: ReportRecord): string {
  return DISPOSITIONS[record.disposition ?? 'none'] ?? String(record.disposition)
}

function RecordDetail({ record }: { record: ReportRecord }) {
  return (
    <Props
      items={[
        [
          'Source',
          <>
            <span className="mono">{record.source_ip}</span>
            {record.source_ip !== null && <CopyButton text={record.source_ip} what="address" />}
          </>,
        ],
        ['From header', record.header_from ?? 'not given'],
        record.envelope_from !== null && [
          'Envelope from',
          record.envelope_from === '' ? '<> (null sender)' : record.envelope_from,
        ],
        record.envelope_to !== null && ['Envelope to', record.envelope_to],
        ...record.dkim.map((result, index) => {
          const selector = result.selector === null ? '' : `, selector ${result.selector}`
          return [
            index === 0 ? 'DKIM' : '',
            `${result.result}: ${result.domain ?? 'no domain'}${selector}${human(result.human_result)}`,
          ] as const
        }),
        ...record.spf.map((result, index) => {
          const scope = result.scope === null || result.scope === undefined ? '' : `, ${result.scope}`
          return [
            index === 0 ? 'SPF' : '',
            `${result.result}: ${result.domain ?? 'no domain'}${scope}${human(result.human_result)}`,
          ] as const
        }),
        record.reasons.length > 0 && ['Receiver says', record.reasons.map(reason).join('; ')],
        ['Receiver did', disposition(record)],
      ]}
    />
  )
}

function human(text: string | null | undefined): string {
  return text === null || text === undefined || text === '' ? '' : ` (${text})`
}

function reason(entry: { type: string; comment?: string | null }): string {
  return `${entry.type.replaceAll('_', ' ')}${human(entry.comment)}`
}
