import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, ApiProblem } from '../../lib/api.ts'
import { count, daysAgo, plural } from '../../lib/format.ts'
import { useMe } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import { IconButton } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check, SelectField, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { addJob, dropJob, useJobs, type RedeliverJob } from './redeliver-jobs.ts'
import { hostOf, shortUrl, WEBHOOKS } from './types.ts'
import type { Webhook } from './types.ts'

const quiet = () => undefined

/** Deliveries are kept for so long. */
const KEPT_DAYS = 90
const DEFAULT_DAYS = 7
const ALL = 'all'
const STATUSES = ['failed', 'skipped'] as const
type Status = (typeof STATUSES)[number]

interface Counted {
  item: Webhook
  count: number
}

/** How many each of them would send again. */
function useCounts(items: readonly Webhook[], since: string, statuses: readonly Status[]) {
  const ready = since !== '' && statuses.length > 0
  const found = useQuery({
    queryKey: [WEBHOOKS, 'redeliver-count', items.map((item) => item.id), since, statuses],
    queryFn: () =>
      Promise.all(
        items.map(async (item): Promise<Counted> => {
          const body = { since, statuses, dry_run: true }
          const answer = await api.post<{ count: number }>(`${WEBHOOKS}/${item.id}/redeliver`, body)
          return { item, count: answer.count }
        }),
      ),
    enabled: ready,
    staleTime: 0,
  })
  return { ...found, counted: ready ? found.data : undefined }
}

interface Props {
  /** One: it is not asked which. */
  items: readonly Webhook[]
  onClose: () => void
}

interface Choice {
  which: string
  since: string
  statuses: readonly Status[]
}

/** Everything that was not delivered since a day, counted before anything is sent. */
export function RedeliverDialog({ items, onClose }: Props) {
  const [choice, setChoice] = useState<Choice>({
    which: ALL,
    since: daysAgo(DEFAULT_DAYS),
    statuses: ['failed', 'skipped'],
  })
  const tenant_id = useMe().tenant.id
  const { which, since, statuses } = choice
  const chosen = which === ALL ? items : items.filter((item) => item.id === which)
  const counts = useCounts(chosen, since, statuses)
  const found = (counts.counted ?? []).filter(({ count }) => count > 0)
  const going = found.filter(({ item }) => item.status === 'active')
  const total = sumOf(going)
  const send = useMutation({
    mutationFn: async () => {
      for (const { item } of going) {
        const path = `${WEBHOOKS}/${item.id}/redeliver`
        const job = await api.post<{ job_id: string }>(path, { since, statuses })
        addJob({ tenant_id, webhook_id: item.id, job_id: job.job_id, host: hostOf(item.url) })
      }
    },
    onSuccess: async () => {
      onClose()
      await refresh(WEBHOOKS)
    },
  })
  return (
    <FormDialog
      open
      title={items.length === 1 ? `Send again to ${hostOf(items[0]?.url ?? '')}` : 'Send again'}
      submitLabel={total === 0 ? 'Send again' : `Send ${plural(total, 'delivery', 'deliveries')} again`}
      onClose={onClose}
      onSubmit={() => send.mutateAsync().then(quiet, quiet)}
      busy={send.isPending}
      reason={reasonOf(choice, counts.counted, total)}
      error={send.error ?? counts.error}
    >
      <ChoiceFields
        items={items}
        choice={choice}
        change={(patch) => setChoice((old) => ({ ...old, ...patch }))}
      />
      <p className="t13 t2" aria-live="polite">
        {countWords(counts.counted, total)}
      </p>
      <Held found={found.filter(({ item }) => item.status !== 'active')} />
    </FormDialog>
  )
}

interface ChoiceProps {
  items: readonly Webhook[]
  choice: Choice
  change: (patch: Partial<Choice>) => void
}

function ChoiceFields({ items, choice, change }: ChoiceProps) {
  const { which, since, statuses } = choice
  const toggle = (status: Status, on: boolean) =>
    change({
      statuses: STATUSES.filter((each) => (each === status ? on : statuses.includes(each))),
    })
  return (
    <>
      {items.length > 1 && (
        <SelectField
          label="Endpoint"
          value={which}
          options={[
            { value: ALL, label: 'All endpoints' },
            ...items.map((item) => ({ value: item.id, label: shortUrl(item.url) })),
          ]}
          onValue={(id) => change({ which: id })}
        />
      )}
      <TextField
        label="Since, UTC"
        type="date"
        min={daysAgo(KEPT_DAYS)}
        max={daysAgo(0)}
        value={since}
        onText={(text) => change({ since: text })}
        hint={`Deliveries are kept for ${KEPT_DAYS} days`}
      />
      <div className="col g4" role="group" aria-label="What was not delivered">
        <Check
          label="Failed: given up after seven attempts"
          checked={statuses.includes('failed')}
          onValue={(on) => toggle('failed', on)}
        />
        <Check
          label="Skipped: the endpoint was paused or disabled"
          checked={statuses.includes('skipped')}
          onValue={(on) => toggle('skipped', on)}
        />
      </div>
    </>
  )
}

function sumOf(counted: readonly Counted[]): number {
  return counted.reduce((sum, { count }) => sum + count, 0)
}

/** What cannot go because its endpoint does not take anything now. */
function Held({ found }: { found: readonly Counted[] }) {
  if (found.length === 0) return null
  const who = found.map(({ item }) => `${shortUrl(item.url)}, which is ${item.status}`)
  return (
    <Notice kind="high">
      {plural(sumOf(found), 'delivery is', 'deliveries are')} kept for {who.join(', ')}: resume it first.
    </Notice>
  )
}

function countWords(counted: readonly Counted[] | undefined, total: number): string {
  if (counted === undefined) return 'Counting.'
  if (total === 0) return 'Nothing to send again now.'
  const what = plural(total, 'delivery', 'deliveries')
  return `${what} to send again. Each keeps its ids and gets a new round of seven attempts.`
}

function reasonOf(
  { statuses, since }: Choice,
  counted: readonly Counted[] | undefined,
  total: number,
): string | undefined {
  if (statuses.length === 0) return 'choose failed or skipped'
  if (since === '') return 'choose a day'
  if (counted === undefined) return 'still counting'
  return total === 0 ? 'there is nothing to send again' : undefined
}

/** Above the list that the jobs change: how far each is. */
export function JobLines({ webhook_id }: { webhook_id?: string }) {
  const jobs = useJobs(useMe().tenant.id, webhook_id)
  return jobs.map((job) => <JobLine key={job.job_id} job={job} />)
}

interface JobState {
  status: 'running' | 'done'
  total: number
  done: number
}

const ASK_MS = 1000

function JobLine({ job }: { job: RedeliverJob }) {
  const path = `${WEBHOOKS}/${job.webhook_id}/redeliver-jobs/${job.job_id}`
  const found = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api.get<JobState>(path, {}, { signal }),
    refetchInterval: (query) => (query.state.data?.status === 'done' ? false : ASK_MS),
  })
  const state = found.data
  const done = state?.status === 'done'
  useEffect(() => {
    if (done) void refresh(WEBHOOKS)
  }, [done])
  if (found.error instanceof ApiProblem && found.error.status === 404) {
    return <JobProblem job={job} error={found.error} />
  }
  return (
    <div className="jobline">
      <span className={done ? 'c-pass' : 'c-accent'}>
        <Icon name={done ? 'check' : 'refresh'} />
      </span>
      <span className="grow">
        <b>{done ? `Queued again for ${job.host}` : `Sending again to ${job.host}`}</b>{' '}
        <span className="t3">
          {state === undefined ? 'starting' : `${count(state.done)} of ${count(state.total)}`}
          {done ? '' : '; you can leave this page'}
        </span>
      </span>
      <div
        className="prog"
        role="progressbar"
        aria-label={`Queued again for ${job.host}`}
        aria-valuemin={0}
        aria-valuemax={state?.total ?? 0}
        aria-valuenow={state?.done ?? 0}
      >
        <i style={{ width: `${partOf(state)}%` }} />
      </div>
      {done && <IconButton small icon="x" label="Dismiss" onClick={() => dropJob(job.job_id)} />}
    </div>
  )
}

function partOf(state: JobState | undefined): number {
  if (state === undefined) return 0
  return state.total === 0 ? 100 : (state.done / state.total) * 100
}

/** The endpoint was deleted meanwhile, and its jobs with it. */
function JobProblem({ job, error }: { job: RedeliverJob; error: unknown }) {
  return (
    <div className="jobline">
      <span className="grow">
        <ProblemNotice error={error} />
      </span>
      <IconButton small icon="x" label="Dismiss" onClick={() => dropJob(job.job_id)} />
    </div>
  )
}
