import { day, isoDay, nowMs, time, weekday } from '../../lib/format.ts'
import { useGet } from '../../lib/query.ts'
import type { AuditEntry, Page } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Seg } from '../../ui/button.tsx'
import { A } from '../../ui/link.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'

const WHO = [
  { value: 'all', label: 'All' },
  { value: 'people', label: 'People' },
  { value: 'system', label: 'Rules' },
] as const

const SHOWN_MAX = 9

/** The newest entries of the audit chain, by day. */
export function WhatWasDone() {
  const view = useView()
  const asked = view.get('who')
  const who = asked === 'people' || asked === 'system' ? asked : 'all'
  const answer = useGet<Page<AuditEntry>>('/v1/audit/query', {
    limit: 50,
    fields: 'seq,ts,actor,action,target,outcome,detail',
  })
  const titles = useGet<Page<{ action: string; title: string }>>('/v1/audit/actions', {}, { poll: false })
  const title_of = new Map((titles.data?.items ?? []).map((item) => [item.action, item.title]))
  const entries = together(answer.data?.items ?? [])
    .filter((entry) => who === 'all' || (entry.actor.type === 'user') === (who === 'people'))
    .slice(0, SHOWN_MAX)
  const days = [...new Set(entries.map((entry) => entry.ts.slice(0, 10)))]
  return (
    <Panel
      title="What was done"
      actions={
        <>
          <Seg
            label="Who did it"
            value={who}
            options={WHO}
            onChange={(value) => view.set({ who: value === 'all' ? undefined : value })}
          />
          <A className="link" href="/audit">
            Audit
          </A>
        </>
      }
    >
      {answer.error !== null && entries.length === 0 && (
        <div className="pad">
          <ProblemNotice error={answer.error} />
        </div>
      )}
      {!answer.isPending && answer.error === null && entries.length === 0 && (
        <Empty kind="yet" icon="audit" title="Nothing was done yet">
          Every change, every refusal and every export is written here.
        </Empty>
      )}
      <div className="done">
        {days.map((date) => (
          <div key={date}>
            <div className="day">
              <span>{dayTitle(date)}</span>
            </div>
            {entries
              .filter((entry) => entry.ts.startsWith(date))
              .map((entry) => (
                <DoneRow key={entry.seq} entry={entry} title={title_of.get(entry.action)} />
              ))}
          </div>
        ))}
      </div>
    </Panel>
  )
}

interface Done extends AuditEntry {
  /** How often in a row. */
  times: number
}

/** The same thing by the same actor several times in a row within an hour is one line. */
function together(entries: readonly AuditEntry[]): Done[] {
  const found: Done[] = []
  for (const entry of entries) {
    const last = found.at(-1)
    const same =
      last?.action === entry.action && last.actor.id === entry.actor.id && last.outcome === entry.outcome
    if (last !== undefined && same && last.ts.slice(0, 13) === entry.ts.slice(0, 13)) last.times++
    else found.push({ ...entry, times: 1 })
  }
  return found
}

function dayTitle(date: string): string {
  if (date === isoDay(nowMs())) return 'Today'
  if (date === isoDay(nowMs() - 86_400_000)) return `Yesterday, ${day(date)}`
  return weekday(date)
}

/** `domain.update` -> Domain update, for actions without a title. */
function plain(action: string): string {
  const text = action.replaceAll(/[._]/g, ' ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function DoneRow({ entry, title }: { entry: Done; title: string | undefined }) {
  const person = entry.actor.type === 'user'
  const text = title ?? plain(entry.action)
  const target = entry.times > 1 ? `${entry.times} times` : targetName(entry)
  return (
    <A className="row done__r" href={`/audit/${entry.seq}`}>
      <time className="t3 t12" dateTime={entry.ts}>
        {time(entry.ts)}
      </time>
      <span className={person ? 'cut' : 'cut t3'}>{actorName(entry)}</span>
      <span className="cut" title={`${text} ${target}`}>
        {text} <span className="t3">{target}</span>
      </span>
      <span className="num">
        <Outcome outcome={entry.outcome} />
      </span>
    </A>
  )
}

function actorName(entry: AuditEntry): string {
  if (entry.actor.name !== null && entry.actor.name !== '') return entry.actor.name
  if (entry.actor.type === 'system') return 'Wardpost'
  return entry.actor.id ?? entry.actor.type
}

function targetName(entry: AuditEntry): string {
  const detail = entry.detail ?? {}
  for (const member of ['name', 'domain', 'email', 'file', 'org_name']) {
    const value = detail[member]
    if (typeof value === 'string') return value
  }
  return ''
}

function Outcome({ outcome }: { outcome: string }) {
  if (outcome === 'success' || outcome === 'ok') return <State kind="pass">done</State>
  if (outcome === 'denied') return <State kind="warn">refused</State>
  return <State kind="fail">{outcome === 'failure' ? 'failed' : outcome}</State>
}
