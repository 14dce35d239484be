import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, type KeyboardEvent } from 'react'
import { api, ApiProblem } from '../../lib/api.ts'
import { bytes, count, day, duration, isoDay, nowMs, plural, timeSeconds } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, CopyTextButton } from '../../ui/copy.tsx'
import { Disclosure, Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { Glyph } from '../../ui/icons.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import { ATTEMPTS_PER_ROUND, stepsOf, type Step } from './attempts.ts'
import { Body } from './test.tsx'
import { hostOf, WEBHOOKS } from './types.ts'
import type { Attempt, DeliveryDetail, Webhook } from './types.ts'
import { answerWords, comingIn, DeliveryState } from './words.tsx'

const SOON_MS = 2000

interface ViewProps {
  webhook: Webhook
  id: string
  back: () => void
}

/** One delivery with its attempts, in place of the list it came from; Esc leads back there. */
export function DeliveryView({ webhook, id, back }: ViewProps) {
  const path = `${WEBHOOKS}/${webhook.id}/deliveries/${id}`
  const { data: item, error, refetch, dataUpdatedAt } = useGet<DeliveryDetail>(path)
  useSoon(item?.status === 'pending' || item?.status === 'sending', dataUpdatedAt)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus({ preventScroll: true }), [])
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.preventDefault()
    back()
  }
  return (
    <div ref={box} className="dlv" tabIndex={-1} role="group" aria-label="Delivery" onKeyDown={keys}>
      <div className="dlv__h">
        <Button small kind="quiet" icon="left" onClick={back}>
          All deliveries
        </Button>
        <span className="grow" />
        {item !== undefined && <DeliveryState status={item.status} />}
      </div>
      {item === undefined ? (
        <div className="pad">
          <Missing error={error} retry={() => void refetch()} />
        </div>
      ) : (
        <Found webhook={webhook} item={item} path={path} />
      )}
    </div>
  )
}

/** What is under way is over in seconds: it is asked for again sooner than everything else. */
function useSoon(moving: boolean, read_at: number): void {
  useEffect(() => {
    if (!moving) return undefined
    const timer = setTimeout(() => void refresh(WEBHOOKS), SOON_MS)
    return () => clearTimeout(timer)
  }, [moving, read_at])
}

function Missing({ error, retry }: { error: unknown; retry: () => void }) {
  if (error === null) return <span className="sk" />
  if (error instanceof ApiProblem && (error.status === 404 || error.status === 410)) {
    return (
      <Empty kind="match" title="It is no longer kept">
        {error.detail}
      </Empty>
    )
  }
  return <ProblemNotice error={error} retry={retry} />
}

function Found({ webhook, item, path }: { webhook: Webhook; item: DeliveryDetail; path: string }) {
  const steps = stepsOf(item)
  return (
    <>
      <Section title="Attempts" count={progressWords(item, steps)}>
        {steps.length === 0 ? (
          <p className="t13 t2">It was never tried: the endpoint was paused, disabled or deleted.</p>
        ) : (
          <ol className="att">
            {steps.map((step, index) => (
              // Attempts are only ever added at the end: the place is the identity.
              <Line key={index} step={step} />
            ))}
          </ol>
        )}
        <Redeliver webhook={webhook} item={item} />
      </Section>
      <Section
        title="Request"
        count="the same bytes at every attempt"
        actions={<CopyTextButton text={item.body}>Copy body</CopyTextButton>}
      >
        <pre className="raw raw--wrap" tabIndex={0} aria-label="Body of the request">
          {readable(item.body)}
        </pre>
        <p className="t12 t3 mt-1">
          Laid out for reading; “Copy body” gives the {bytes(item.body.length)} as sent.
        </p>
      </Section>
      <Section title="Delivery">
        <Facts item={item} />
      </Section>
      <div className="sec">
        <RawRecord path={path} value={item} />
      </div>
    </>
  )
}

function Facts({ item }: { item: DeliveryDetail }) {
  const id = (value: string, what: string) => (
    <span className="flex">
      <span className="mono brk">{value}</span>
      <CopyButton text={value} what={what} />
    </span>
  )
  return (
    <Props
      items={[
        ['Event', item.event_type],
        ['Event id', id(item.event_id, 'the event id')],
        ['Delivery id', id(item.id, 'the delivery id')],
        ['Created', <Time key="c" at={item.created_at} as="exact" />],
        item.completed_at !== null && ['Ended', <Time key="e" at={item.completed_at} as="exact" />],
      ]}
    />
  )
}

/** `5 of 7, next in 3 h 51 m` */
function progressWords(item: DeliveryDetail, steps: readonly Step[]): string {
  const made = plural(item.attempts.length, 'attempt')
  const next = steps.find((step) => step.kind === 'next')
  if (next === undefined) return made
  const round = steps.filter((step) => step.kind === 'later').length
  const left = `${round + 1} of ${ATTEMPTS_PER_ROUND} left`
  return `${made}, ${left}, next ${comingIn(next.at)}`
}

const MARKS = { ok: 'pass', fail: 'fail', next: 'half', later: undefined } as const

function Line({ step }: { step: Step }) {
  const mark = MARKS[step.kind]
  return (
    <li className={`is-${step.kind}`}>
      <span className="att__d">{step.plan}</span>
      <span className="att__m" aria-hidden="true">
        {mark !== undefined && <Glyph name={mark} />}
      </span>
      <span className="att__t">{step.at === null ? 'now' : clock(step.at)}</span>
      {step.attempt === undefined ? (
        <span className={step.kind === 'later' ? 't3' : ''}>
          {step.kind === 'next' ? 'Next attempt' : step.last ? 'Last attempt, then failed' : 'If that fails'}
        </span>
      ) : (
        <Tried attempt={step.attempt} />
      )}
      <span className="num t3 nw">{step.attempt === undefined ? '' : took(step.attempt.ms)}</span>
    </li>
  )
}

function Tried({ attempt }: { attempt: Attempt }) {
  const failed = attempt.error_class !== null
  const facts = [attempt.error_class, attempt.address === null ? null : `to ${attempt.address}`]
  const size = new TextEncoder().encode(attempt.response_body).length
  return (
    <span className="att__w">
      <span className={failed ? 'c-fail med' : 'c-pass med'}>{answerWords(attempt)}</span>
      <span className="sub mono">{facts.filter((fact) => fact !== null).join(' · ')}</span>
      {attempt.error !== null && attempt.error_class !== 'http_status' && (
        <span className="sub">{attempt.error}</span>
      )}
      {attempt.response_body !== '' && (
        <Disclosure summary={<span className="t12">Answer, {bytes(size)}</span>}>
          <Body text={attempt.response_body} label={`Answer to attempt ${attempt.number}`} size={size} />
        </Disclosure>
      )}
    </span>
  )
}

/** Today the time to the second, otherwise the day as well. */
function clock(at: string): string {
  return at.slice(0, 10) === isoDay(nowMs()) ? timeSeconds(at) : `${day(at)} ${timeSeconds(at)}`
}

function took(ms: number): string {
  return ms < 10_000 ? `${count(ms)} ms` : duration(ms)
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function Redeliver({ webhook, item }: { webhook: Webhook; item: DeliveryDetail }) {
  const can = useCan()
  const send = useMutation({
    mutationFn: () => api.post(`${WEBHOOKS}/${webhook.id}/redeliver/${item.id}`),
    onSuccess: async () => {
      notify({ kind: 'pass', text: `It is sent again to ${hostOf(webhook.url)}` })
      await refresh(WEBHOOKS)
    },
    onError: (error) => notifyProblem(error, 'Not sent again'),
  })
  const reason = can('webhooks:write').reason ?? refusal(webhook, item)
  return (
    <div className="flex wrap mt-3">
      <Button
        small
        kind={reason === undefined ? 'primary' : 'plain'}
        icon="refresh"
        busy={send.isPending}
        reason={reason}
        showReason
        onClick={() => send.mutate()}
      >
        Redeliver
      </Button>
    </div>
  )
}

function refusal(webhook: Webhook, item: DeliveryDetail): string | undefined {
  if (item.status !== 'failed' && item.status !== 'skipped') {
    const why: Partial<Record<DeliveryDetail['status'], string>> = {
      succeeded: 'this one arrived',
      cancelled: 'this one was cancelled',
    }
    return `Only for failed and skipped ones; ${why[item.status] ?? 'this one is still tried'}`
  }
  return webhook.status === 'active' ? undefined : `The endpoint is ${webhook.status}: resume it first`
}
