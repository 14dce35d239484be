import { useState } from 'react'
import { coveredDays } from '../lib/dmarc.ts'
import { saveText } from '../lib/drop.ts'
import { compact, count, duration, nowMs, plural, time } from '../lib/format.ts'
import { useAuthState, useCan } from '../lib/me.ts'
import {
  canRetry,
  clearUpload,
  resumeUpload,
  retryFailed,
  stopUpload,
  useUpload,
  type UploadJob,
} from '../lib/uploads.ts'
import { useView } from '../lib/view.ts'
import { Button, LinkButton, Seg } from '../ui/button.tsx'
import { RecordBox } from '../ui/copy.tsx'
import { A } from '../ui/link.tsx'
import { ProgressLine } from '../ui/meter.tsx'
import { Empty } from '../ui/notice.tsx'
import { Figures, PageHead, Panel } from '../ui/panel.tsx'
import { State } from '../ui/state.tsx'
import { DropBox } from './upload/dropbox.tsx'
import { addedBy, KIND_LOOK, KINDS, resultRows, type ResultKind, type ResultRow } from './upload/results.ts'

/** Rows drawn at first; an import of a thousand files shows the rest on request. */
const ROWS_SHOWN = 200

export function UploadPage() {
  const can = useCan()
  const job = useUpload()
  const rows = resultRows(job?.items ?? [])
  return (
    <>
      <PageHead
        title="Upload reports"
        lead="What receivers send as attachments: DMARC, TLS and failure reports, as they are. The kind is told by the bytes, never by the name."
        actions={<LinkButton href="/reports">All reports</LinkButton>}
      />
      <div className="grid up">
        <div className="col g16">
          <DropBox reason={can('reports:write').reason} />
          {job === null ? (
            <Panel title="This upload">
              <Empty kind="yet" icon="upload" title="No file yet">
                Drop the files of a mailbox folder as they are; what is there already is told apart and
                counted once.
              </Empty>
            </Panel>
          ) : (
            <Results job={job} rows={rows} />
          )}
        </div>
        <div className="col g16">
          {job !== null && <SinceThis rows={rows} />}
          <OtherWays />
        </div>
      </div>
    </>
  )
}

const FILTER_WORDS: Record<ResultKind, string> = {
  failed: 'Not read',
  rejected: 'Rejected',
  unassigned: 'Unassigned',
  repaired: 'Repaired',
  revision: 'Revision',
  created: 'Created',
  duplicate: 'Duplicate',
  reading: 'Reading',
  waiting: 'Waiting',
}

function Results({ job, rows }: { job: UploadJob; rows: readonly ResultRow[] }) {
  const view = useView()
  const [drawn, setDrawn] = useState(ROWS_SHOWN)
  const asked = view.get('show')
  const shown = KINDS.find((kind) => kind === asked) ?? 'all'
  const listed = shown === 'all' ? rows : rows.filter((row) => row.kind === shown)
  const finished = job.items.filter((item) => item.state === 'done' || item.state === 'failed').length
  const options = [
    { value: 'all' as const, label: `All ${count(rows.length)}` },
    ...KINDS.flatMap((kind) => {
      const number = rows.filter((row) => row.kind === kind).length
      return number === 0 ? [] : [{ value: kind, label: `${FILTER_WORDS[kind]} ${count(number)}` }]
    }),
  ]
  return (
    <Panel
      title={`Upload of ${time(job.started_ms)} UTC`}
      label="This upload"
      sub={plural(job.items.length, 'file')}
      actions={<JobActions job={job} rows={rows} />}
    >
      <ProgressLine
        label="Files read"
        done={finished}
        total={job.items.length}
        note={progressNote(job, finished)}
      />
      <div className="tools upt__f">
        <Seg
          label="Which results"
          value={shown}
          options={options}
          onChange={(value) => view.set({ show: value === 'all' ? undefined : value })}
        />
      </div>
      <ResultTable rows={listed.slice(0, drawn)} />
      {listed.length > drawn && (
        <div className="more">
          <span>
            {count(drawn)} of {count(listed.length)} shown
          </span>
          <Button small onClick={() => setDrawn(drawn + 1000)}>
            Show more
          </Button>
        </div>
      )}
    </Panel>
  )
}

function ResultTable({ rows }: { rows: readonly ResultRow[] }) {
  return (
    <div className="list">
      <table className="t t--top upt">
        <caption className="vh">Result per report, problems first</caption>
        <thead>
          <tr>
            <th scope="col">Result</th>
            <th scope="col">File</th>
            <th scope="col" className="p2">
              From
            </th>
            <th scope="col" className="p2">
              About
            </th>
            <th scope="col" className="num p3">
              Day
            </th>
            <th scope="col" className="num">
              Messages
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Result key={row.key} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function progressNote(job: UploadJob, finished: number): string {
  const total = job.items.length
  if (!job.running) {
    const left = total - finished
    return left > 0
      ? `Stopped: ${count(left)} of ${plural(total, 'file')} not sent.`
      : `All ${plural(total, 'file')} read.`
  }
  const spent = nowMs() - job.started_ms
  const rest = finished === 0 ? '' : `, about ${duration((spent / finished) * (total - finished))}`
  return `${count(finished)} of ${plural(total, 'file')}${rest}. You can go to other pages; the upload goes on while this tab is open.`
}

function JobActions({ job, rows }: { job: UploadJob; rows: readonly ResultRow[] }) {
  const waiting = job.items.some((item) => item.state === 'waiting')
  const download = () => {
    const results = job.items.map(
      (item) => item.result ?? { file: item.name, state: item.state, problem: item.problem },
    )
    saveText('upload-results.json', 'application/json', JSON.stringify({ results }, null, 2))
  }
  return (
    <>
      <Button
        kind="quiet"
        small
        icon="download"
        onClick={download}
        reason={rows.length === 0 ? 'nothing yet' : undefined}
      >
        Download results
      </Button>
      {job.running && (
        <Button small busy={job.stopping} onClick={stopUpload}>
          {job.stopping ? 'Stopping' : 'Stop after this file'}
        </Button>
      )}
      {!job.running && waiting && (
        <Button small kind="primary" onClick={resumeUpload}>
          Go on
        </Button>
      )}
      {!job.running && canRetry() && (
        <Button small onClick={retryFailed}>
          Try again
        </Button>
      )}
      {!job.running && !waiting && (
        <Button small kind="quiet" onClick={clearUpload}>
          Clear
        </Button>
      )}
    </>
  )
}

/** A long file name keeps both ends: the sender and the dates. */
function middle(name: string): string {
  return name.length <= 48 ? name : `${name.slice(0, 30)}…${name.slice(-16)}`
}

function Result({ row }: { row: ResultRow }) {
  const look = KIND_LOOK[row.kind]
  const { entry } = row
  const href = entry?.id === undefined ? undefined : reportHref(entry.id, entry.kind)
  const dated = entry?.date_begin !== undefined && entry.date_end !== undefined
  return (
    <tr>
      <td className="nw">
        <State kind={look.state}>{look.word}</State>
      </td>
      <td>
        <span className="mono brk" title={row.file}>
          {href === undefined ? middle(row.file) : <A href={href}>{middle(row.file)}</A>}
        </span>
        <span className="sub">
          {row.about}
          {row.code !== undefined && (
            <>
              {' · '}
              <span className="mono">{row.code}</span>
            </>
          )}
        </span>
        {row.text !== '' && (
          <span className="upt__w">
            {row.text} <Follow row={row} />
          </span>
        )}
      </td>
      <td className="p2 cut" title={entry?.org_name ?? undefined}>
        {entry?.org_name}
      </td>
      <td className="p2 cut" title={entry?.domain ?? undefined}>
        {entry?.domain}
      </td>
      <td className="num p3 nw">
        {dated && coveredDays({ date_begin: entry.date_begin ?? '', date_end: entry.date_end ?? '' })}
      </td>
      <td className="num">
        {entry?.messages === undefined || entry.messages === null ? '' : count(entry.messages)}
      </td>
    </tr>
  )
}

function reportHref(id: string, kind: string | undefined): string {
  if (kind === 'tls') return `/reports/tls/${id}`
  return kind === 'failure' ? `/reports/failures/${id}` : `/reports/${id}`
}

function Follow({ row }: { row: ResultRow }) {
  const { entry } = row
  if (row.kind === 'unassigned' && entry?.domain !== undefined && entry.domain !== null) {
    return <A href={`/domains?add=1&name=${encodeURIComponent(entry.domain)}`}>Add the domain</A>
  }
  if (row.kind === 'revision' && entry?.revision_of !== undefined) {
    return <A href={`/reports/${entry.revision_of}`}>Compare</A>
  }
  return null
}

function SinceThis({ rows }: { rows: readonly ResultRow[] }) {
  const added = addedBy(rows)
  const number = (kind: ResultKind) => rows.filter((row) => row.kind === kind).length
  return (
    <Panel title="Since this upload">
      <Figures
        items={[
          { label: 'Messages added', value: compact(added.messages), note: plural(added.domains, 'domain') },
          {
            label: 'Reports added',
            value: count(added.reports),
            note: `from ${plural(added.receivers, 'receiver')}`,
          },
          {
            label: 'Unassigned',
            value: count(number('unassigned')),
            note: <A href="/reports/unassigned">kept, not counted</A>,
          },
          {
            label: 'Rejected',
            value: count(number('rejected')),
            note: <A href="/reports/rejected">each with its reason</A>,
          },
        ]}
      />
    </Panel>
  )
}

function OtherWays() {
  const base = useAuthState().data?.base_url
  const origin = base === undefined || base === '' ? location.origin : base
  const curl = `curl -H "Authorization: Bearer $KEY" \\\n--data-binary @report.zip \\\n${origin}/v1/reports/upload`
  return (
    <Panel title="Other ways in">
      <div className="ways">
        <div>
          <b>Script</b>
          <A className="t12" href="/settings/keys">
            API keys
          </A>
          <p>
            Needs a key with <span className="mono">reports:write</span>
          </p>
          <RecordBox text={curl} what="command" />
        </div>
        <div>
          <b>Folder on the server</b>
          <span />
          <p>Reads every file below it, with progress; what is there already is counted once</p>
          <RecordBox text="wardpost import ./reports" what="command" />
        </div>
      </div>
    </Panel>
  )
}
