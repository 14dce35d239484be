import { useEffect } from 'react'
import { useCrumb } from '../../lib/crumb.ts'
import { duration, exact, nowMs, plural, relative } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { useGet } from '../../lib/query.ts'
import type { Alert } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Drawer, Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Severity, State } from '../../ui/state.tsx'
import { AssignMenu, SilenceMenu, useAlertStep } from './actions.tsx'
import { Evidence } from './evidence.tsx'
import { History } from './history.tsx'
import { KINDS, kindTitle, refusal, STATUSES, subjectLink } from './kinds.ts'
import type { AlertAction } from './kinds.ts'

export function AlertState({ alert }: { alert: Alert }) {
  const { kind, word } = STATUSES[alert.status]
  const left = alert.silenced_until
  return (
    <State kind={kind}>
      {word}
      {left !== null && <span title={exact(left)}> for {duration(new Date(left).getTime() - nowMs())}</span>}
    </State>
  )
}

/** One alert beside its list. */
export function AlertDrawer({ id, list }: { id: string; list: readonly Alert[] }) {
  const view = useView()
  const { data: alert, error } = useGet<Alert>(`/v1/alerts/${id}`)
  const close = view.at('/alerts')
  useCrumb(alert?.title)
  if (alert === undefined) {
    return (
      <Drawer title="Alert" close={close}>
        <div className="pad">
          {error === null ? <span className="sk" /> : <ProblemNotice error={error} />}
        </div>
      </Drawer>
    )
  }
  const at = list.findIndex((row) => row.id === id)
  const neighbour = (step: number) => {
    const row = at === -1 ? undefined : list[at + step]
    return row === undefined ? undefined : view.at(`/alerts/${row.id}`)
  }
  return <Detail alert={alert} close={close} previous={neighbour(-1)} next={neighbour(1)} />
}

interface DetailProps {
  alert: Alert
  close: string
  previous: string | undefined
  next: string | undefined
}

function Detail({ alert, close, previous, next }: DetailProps) {
  return (
    <Drawer
      title={alert.title}
      sub={
        <>
          <span className="flex wrap g8">
            <Severity level={alert.severity} />
            <AlertState alert={alert} />
          </span>
          {kindTitle(alert.kind)}, raised {relative(alert.first_at)}
          {alert.count > 1 && `, ${plural(alert.count, 'time')}`}
        </>
      }
      close={close}
      previous={previous}
      next={next}
      actions={<Actions alert={alert} />}
    >
      <What alert={alert} />
      <Evidence alert={alert} />
      <History alert={alert} />
      <Section title="Record">
        <Props
          items={[
            ['First', exact(alert.first_at)],
            ['Last', exact(alert.last_at)],
            ['Times', String(alert.count)],
            alert.silenced_until !== null && ['Silent until', exact(alert.silenced_until)],
            [
              'Id',
              <span key="id" className="flex g4">
                <span className="mono brk">{alert.id}</span>
                <CopyButton text={alert.id} what="id" />
              </span>,
            ],
            [
              'In the log',
              <A key="log" href={`/audit?target=${alert.id}`}>
                entries about it
              </A>,
            ],
          ]}
        />
      </Section>
      <div className="sec">
        <RawRecord path={`/v1/alerts/${alert.id}`} value={alert} />
      </div>
    </Drawer>
  )
}

function Actions({ alert }: { alert: Alert }) {
  const can = useCan()
  const step = useAlertStep()
  const off = can('alerts:write').reason
  const why = (action: AlertAction) => off ?? refusal(action, [alert])
  const act = (action: AlertAction, duration_text?: string) => {
    if (step.isPending || why(action) !== undefined) return
    step.mutate({
      action,
      alerts: [alert],
      ...(duration_text === undefined ? {} : { duration: duration_text }),
    })
  }
  useAcknowledgeKey('aside.drawer', () => act('ack'))
  return (
    <>
      <Button
        kind="primary"
        icon="check"
        busy={step.isPending}
        reason={why('ack')}
        aria-keyshortcuts="e"
        onClick={() => act('ack')}
      >
        Acknowledge
      </Button>
      <Button reason={why('resolve')} onClick={() => act('resolve')}>
        Resolve
      </Button>
      <SilenceMenu reason={why('silence')} onChoose={(text) => act('silence', text)} />
      <AssignMenu
        alert={alert}
        reason={off ?? (alert.status === 'resolved' ? 'it is resolved' : undefined)}
      />
    </>
  )
}

/** `e` acknowledges while the focus is in a place and nothing there takes letters. */
export function useAcknowledgeKey(place: string, run: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'e' || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey)
        return
      const target = event.target
      if (!(target instanceof Element) || target.closest(place) === null) return
      if (target.closest('input:not([type="checkbox"]), textarea, select, dialog, .menu') !== null) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}

/** What, why it matters, how to fix, and the way there. */
function What({ alert }: { alert: Alert }) {
  const help = KINDS[alert.kind]
  const link = subjectLink(alert)
  return (
    <Section title="What to do">
      <dl className="wwh">
        <dt>What</dt>
        <dd>{alert.summary}</dd>
        {help !== undefined && (
          <>
            <dt>Why it matters</dt>
            <dd>{help.why}</dd>
            <dt>How to fix</dt>
            <dd>
              <ol className="ol">
                {help.how.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ol>
            </dd>
          </>
        )}
        {link !== undefined && (
          <>
            <dt>Look at</dt>
            <dd>
              <A href={link.href}>{link.label}</A>
            </dd>
          </>
        )}
      </dl>
    </Section>
  )
}
