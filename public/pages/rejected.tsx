import { bytes, relative } from '../lib/format.ts'
import { useList } from '../lib/query.ts'
import type { RejectedFile } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { LinkButton } from '../ui/button.tsx'
import { Split } from '../ui/drawer.tsx'
import { Empty } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { State } from '../ui/state.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ReportTabs } from './reports/tabs.tsx'

const COLUMNS: readonly Column<RejectedFile>[] = [
  {
    key: 'file',
    title: 'File',
    fixed: true,
    cell: (file) => (
      <>
        <span className="mono brk">{file.file ?? 'no name'}</span>
        <span className="sub">
          {bytes(file.bytes)} · <span className="mono">{file.code}</span>
        </span>
        <span className="upt__w">{file.detail}</span>
      </>
    ),
  },
  { key: 'source', title: 'Came by', priority: 2, cell: (file) => file.source },
  {
    key: 'created',
    title: 'When',
    num: true,
    priority: 1,
    className: 'nw',
    cell: (file) => <Time at={file.created_at} />,
  },
  {
    key: 'expires',
    title: 'Kept',
    num: true,
    priority: 3,
    className: 'nw t3',
    cell: (file) => relative(file.expires_at).replace('in ', ''),
  },
  {
    key: 'raw',
    title: 'As sent',
    num: true,
    fixed: true,
    cell: (file) => (
      <LinkButton small icon="download" href={`/v1/reports/rejected/${file.id}/raw`} download="">
        File<span className="vh"> {file.file ?? 'without a name'}</span>
      </LinkButton>
    ),
  },
]

/** Files that could not be read as a report, each with its reason. */
export function RejectedPage() {
  const view = useView()
  const list = useList<RejectedFile>('/v1/reports/rejected', { q: view.get('q'), limit: 100 })
  return (
    <>
      <PageHead
        title="Rejected files"
        lead="What came in and could not be read as a report. Each file is kept with its reason for 30 days; nothing of it was counted."
      />
      <ReportTabs current="rejected" />
      <Split>
        <Table
          name="rejected"
          caption="Rejected files"
          columns={COLUMNS}
          list={list}
          rowId={(file) => file.id}
          rowName={(file) => file.file ?? file.id}
          className="t--top"
          empty={
            <Empty kind="done" title="Every file could be read">
              <State kind="pass">Nothing was refused in the last 30 days.</State>
            </Empty>
          }
        />
      </Split>
    </>
  )
}
