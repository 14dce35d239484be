import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api } from '../lib/api.ts'
import { isBelow, PROFILE_CHOICES, PROFILE_WORDS, trendPoints } from '../lib/dmarc.ts'
import { count, percent, plural } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { refresh, useList } from '../lib/query.ts'
import type { BulkResult, Domain } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { Split } from '../ui/drawer.tsx'
import { TextField } from '../ui/field.tsx'
import { FilterBar, type FilterDef } from '../ui/filter.tsx'
import { Sparkline } from '../ui/meter.tsx'
import { Empty } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { BulkBar, useSelection, type Selection } from '../ui/selection.tsx'
import { State } from '../ui/state.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { notify, notifyProblem } from '../ui/toast.tsx'
import { AddDomain } from './domains/add.tsx'
import { DomainDrawer } from './domains/drawer.tsx'

const FILTERS: readonly FilterDef[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: [
      { value: 'pending', label: 'Pending' },
      { value: 'verified', label: 'Verified' },
    ],
  },
  { name: 'profile', label: 'Used for', kind: 'choice', options: PROFILE_CHOICES },
  { name: 'tag', label: 'Tag', kind: 'text', hint: 'The whole tag' },
]

const COLUMNS: readonly Column<Domain>[] = [
  {
    key: 'name',
    title: 'Domain',
    sort: 'name',
    fixed: true,
    cell: (domain) => (
      <>
        <span className="dl__n brk">{domain.unicode_name}</span>
        <span className="sub">
          {PROFILE_WORDS[domain.profile]}
          {domain.policy.p === null ? '' : `, ${domain.policy.p}`}
        </span>
      </>
    ),
  },
  {
    key: 'compliance',
    title: 'Compliant',
    sort: 'compliance',
    num: true,
    fixed: true,
    cell: (domain) => <Compliant domain={domain} />,
  },
  {
    key: 'limit',
    title: 'Against limit',
    num: true,
    priority: 3,
    cell: (domain) => <AgainstLimit domain={domain} />,
  },
  {
    key: 'trend',
    title: '30 d',
    priority: 1,
    cell: (domain) => (
      <Sparkline
        values={domain.compliance.trend.map((entry) => entry.rate)}
        fell={(trendPoints(domain) ?? 0) < -1}
      />
    ),
  },
  {
    key: 'messages',
    title: 'Messages, 30 d',
    sort: 'messages',
    down: true,
    num: true,
    priority: 2,
    cell: (domain) => count(domain.compliance.messages),
  },
  {
    key: 'fail',
    title: 'Failed',
    num: true,
    priority: 3,
    cell: (domain) => count(domain.compliance.fail),
  },
  {
    key: 'status',
    title: 'Status',
    priority: 3,
    cell: (domain) => <DomainStatus domain={domain} />,
  },
  {
    key: 'tags',
    title: 'Tags',
    priority: 4,
    cell: (domain) => <span className="t3">{domain.tags.join(', ')}</span>,
  },
  {
    key: 'last',
    title: 'Last report',
    num: true,
    priority: 4,
    className: 't3',
    cell: (domain) => <Time at={domain.last_report_at} />,
  },
]

function DomainStatus({ domain }: { domain: Domain }) {
  return domain.status === 'verified' ? (
    <State kind="pass">Verified</State>
  ) : (
    <State kind="pending">Pending</State>
  )
}

/** Points above or below the domain's own limit. */
function AgainstLimit({ domain }: { domain: Domain }) {
  const { rate } = domain.compliance
  if (rate === null || domain.profile !== 'sending') return null
  const points = rate - domain.compliance_threshold
  return (
    <span className="nw">
      <span className={points < 0 ? 'c-critical med' : ''}>
        {points < 0 ? '−' : '+'}
        {Math.abs(points).toFixed(1)}
      </span>{' '}
      <span className="t3 t12">of {domain.compliance_threshold}</span>
    </span>
  )
}

function Compliant({ domain }: { domain: Domain }) {
  if (domain.compliance.rate !== null) {
    return (
      <span className={isBelow(domain) ? 'c-critical med nw' : 'nw'}>{percent(domain.compliance.rate)}</span>
    )
  }
  if (domain.status === 'pending') return <State kind="pending">Pending</State>
  return <span className="t3 nw">no traffic</span>
}

/** All domains, worst first on request; a row opens the domain beside the list. */
export function DomainsPage() {
  const view = useView()
  const can = useCan()
  const { id } = useParams({ strict: false })
  const selection = useSelection()
  const list = useList<Domain>('/v1/domains', {
    q: view.get('q'),
    status: view.get('status'),
    profile: view.get('profile'),
    tag: view.get('tag'),
    sort: view.get('sort'),
    limit: 100,
  })
  // What is checked must be on screen: another question starts without it.
  const asked = ['q', 'status', 'profile', 'tag'].map((name) => view.get(name) ?? '').join(' ')
  const { clear } = selection
  useEffect(() => clear(), [asked])
  const filtered = ['q', 'status', 'profile', 'tag'].some((name) => view.get(name) !== undefined)
  const href = (domain: Domain) => view.at(`/domains/${domain.id}`, { add: undefined })
  return (
    <>
      <PageHead
        title="Domains"
        actions={
          <Button
            kind="primary"
            icon="plus"
            reason={can('domains:write').reason}
            onClick={() => view.set({ add: '1' }, true)}
          >
            Add domain
          </Button>
        }
      />
      <FilterBar search="Name of a domain" filters={FILTERS}>
        <ColumnPicker list="domains" columns={COLUMNS} />
      </FilterBar>
      <Split wide drawer={id === undefined ? undefined : <DomainDrawer key={id} id={id} list={list.items} />}>
        <DomainBulk selection={selection} domains={list.items} />
        <Table
          name="domains"
          caption="Domains"
          columns={COLUMNS}
          list={list}
          rowId={(domain) => domain.id}
          rowName={(domain) => domain.unicode_name}
          href={href}
          current={id}
          defaultSort="name"
          two
          className="dl"
          {...(can('domains:write').allowed ? { selection } : {})}
          foot="Limit 95 % unless set per domain"
          empty={filtered ? <NothingMatches /> : <NothingYet />}
        />
      </Split>
      <AddDomain open={view.get('add') !== undefined} name={view.get('name')} />
    </>
  )
}

function NothingYet() {
  const view = useView()
  const can = useCan()
  return (
    <Empty
      kind="yet"
      icon="domains"
      title="No domains yet"
      action={
        <Button
          kind="primary"
          reason={can('domains:write').reason}
          onClick={() => view.set({ add: '1' }, true)}
        >
          Add a domain
        </Button>
      }
    >
      A domain shows who sends in its name, how many of those messages pass, and what its DMARC record asks of
      receivers.
    </Empty>
  )
}

function NothingMatches() {
  const view = useView()
  const clear = { q: undefined, status: undefined, profile: undefined, tag: undefined }
  return (
    <Empty
      kind="match"
      title="No domain matches"
      action={<Button onClick={() => view.set(clear, true)}>Clear filters</Button>}
    >
      The filters leave nothing of what is here.
    </Empty>
  )
}

/** What can be done to all the checked domains at once. */
function DomainBulk({ selection, domains }: { selection: Selection; domains: readonly Domain[] }) {
  const [asking, setAsking] = useState<'delete' | 'tag' | null>(null)
  const [tag, setTag] = useState('')
  const run = async (action: string, extra: Record<string, string> = {}) => {
    const answer = await api.post<BulkResult>('/v1/domains/bulk', {
      ids: [...selection.ids],
      action,
      ...extra,
    })
    const failed = answer.results.filter((result) => result.status === 'failed')
    const done = answer.results.length - failed.length
    if (failed.length > 0)
      notify({ kind: 'fail', text: `${plural(failed.length, 'domain')} failed: ${failed[0]?.code}` })
    else notify({ kind: 'pass', text: `${plural(done, 'domain')} done` })
    selection.clear()
    await refresh('/v1/domains', '/v1/reports')
  }
  const check = () => {
    run('check').catch((error: unknown) => notifyProblem(error))
  }
  return (
    <>
      <BulkBar selection={selection} noun="domain">
        <Button small icon="refresh" onClick={check}>
          Check now
        </Button>
        <Button small onClick={() => setAsking('tag')}>
          Add tag
        </Button>
        <Button small kind="danger" icon="trash" onClick={() => setAsking('delete')}>
          Delete
        </Button>
      </BulkBar>
      <FormDialog
        open={asking === 'tag'}
        title={`Tag ${plural(selection.ids.size, 'domain')}`}
        submitLabel="Add tag"
        onClose={() => setAsking(null)}
        reason={tag.trim() === '' ? 'write a tag first' : undefined}
        onSubmit={async () => {
          setAsking(null)
          await run('tag', { tag: tag.trim() }).catch((error: unknown) => notifyProblem(error))
          setTag('')
        }}
      >
        <TextField
          label="Tag"
          value={tag}
          onText={setTag}
          autoFocus
          maxLength={40}
          hint="For example production"
        />
      </FormDialog>
      <DeleteChosen
        open={asking === 'delete'}
        names={domains.filter((domain) => selection.ids.has(domain.id)).map((domain) => domain.unicode_name)}
        count={selection.ids.size}
        onClose={() => setAsking(null)}
        onConfirm={() => run('delete')}
      />
    </>
  )
}

interface DeleteChosenProps {
  open: boolean
  names: readonly string[]
  count: number
  onClose: () => void
  onConfirm: () => Promise<void>
}

const NAMED = 8

function DeleteChosen({ open, names, count: number, onClose, onConfirm }: DeleteChosenProps) {
  const rest = number - Math.min(names.length, NAMED)
  return (
    <ConfirmDialog
      open={open}
      title={`Delete ${plural(number, 'domain')}?`}
      confirmLabel="Delete"
      typed={String(number)}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>
        {names.slice(0, NAMED).join(', ')}
        {rest > 0 ? ` and ${rest} more` : ''}
      </p>
      <p className="t2">Their reports stay and become unassigned. Adding a domain again adopts them.</p>
    </ConfirmDialog>
  )
}
