import { exact, moment, time } from '../../lib/format.ts'
import type { Alert, AlertEvent } from '../../lib/types.ts'
import { Section } from '../../ui/drawer.tsx'
import { NoteForm } from './actions.tsx'

/** What was done with an alert, newest first. */
export function History({ alert }: { alert: Alert }) {
  return (
    <Section title="History" count="newest first, UTC">
      <ol className="tl">
        {alert.history.toReversed().map((entry, index) => (
          // Several entries can bear the same time: their place tells them apart.
          <li key={`${entry.at} ${alert.history.length - index}`}>
            <time dateTime={entry.at} title={exact(entry.at)}>
              {moment(entry.at)}
            </time>
            <span>
              <b>{who(entry)}</b> {what(entry)}
              {entry.note !== null && <span className="tl__n">{entry.note}</span>}
            </span>
          </li>
        ))}
      </ol>
      <NoteForm alert={alert} />
    </Section>
  )
}

function who({ actor }: AlertEvent): string {
  return actor.name ?? (actor.type === 'system' ? 'Wardpost' : (actor.id ?? actor.type))
}

const DID: Readonly<Record<string, string>> = {
  raised: 'raised it',
  acknowledged: 'acknowledged it',
  resolved: 'resolved it',
  reopened: 'opened it again: the silence is over',
  unassigned: 'left it to nobody',
  note: 'wrote',
}

function what({ action, until, user, actor }: AlertEvent): string {
  if (action === 'silenced')
    return until === null ? 'silenced it' : `silenced it until ${moment(until)}${sameDay(until)}`
  if (action === 'assigned') {
    return user?.id === actor.id ? 'took it' : `gave it to ${user?.name ?? 'somebody who left'}`
  }
  return DID[action] ?? action
}

/** A time of day needs no time of day. */
function sameDay(until: string): string {
  return moment(until) === time(until) ? '' : `, ${time(until)}`
}
