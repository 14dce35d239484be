import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { percent } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import type { Page } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { Strip } from '../../ui/meter.tsx'
import { Tag } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import { rateWords, useRecent } from './recent.tsx'
import { RedeliverDialog } from './redeliver.tsx'
import { TestSection } from './test.tsx'
import { hostOf, WEBHOOKS } from './types.ts'
import type { Delivery, Webhook } from './types.ts'
import { explainHealth, splitError } from './words.tsx'

/** How it does, what happened, and what can be done about it. */
export function WebhookOverview({ item }: { item: Webhook }) {
  return (
    <>
      <HealthSection item={item} />
      <TestSection item={item} />
      <Section title="Events" count={`${item.events.length} of 10 kinds`}>
        <span className="flex wrap g4">
          {item.events.map((name) => (
            <Tag key={name}>{name}</Tag>
          ))}
        </span>
      </Section>
      <div className="sec">
        <RawRecord path={`${WEBHOOKS}/${item.id}`} value={item} />
      </div>
    </>
  )
}

function HealthSection({ item }: { item: Webhook }) {
  const recent = useRecent(item)
  return (
    <Section title="Health">
      <p className="t13 t2 mb-3">{explainHealth(item)}</p>
      <Props
        items={[
          recent !== undefined &&
            recent.cells.length > 0 && [
              'Deliveries',
              <span key="d" className="flex wrap">
                <Strip cells={recent.cells} />
                <span>{rateWords(recent)}</span>
              </span>,
            ],
          ['Success rate', recent === undefined ? '–' : percent(recent.rate)],
          ['Failed in a row', String(item.failures)],
          item.failing_since !== null && [
            'Failing since',
            <Time key="f" at={item.failing_since} as="exact" />,
          ],
          ['Last attempt', <Time key="a" at={item.last_attempt_at} as="relative" />],
          ['Last success', <Time key="s" at={item.last_success_at} as="relative" />],
          [
            'Its entries',
            <A key="l" href={`/audit?target=${item.id}`}>
              in the audit log
            </A>,
          ],
        ]}
      />
      <LastFailure item={item} />
      <HealthActions item={item} />
    </Section>
  )
}

/** What the receiver said when it last failed, while it fails. */
function LastFailure({ item }: { item: Webhook }) {
  const view = useView()
  const failing = item.failures > 0
  const path = `${WEBHOOKS}/${item.id}/deliveries`
  const retrying = useGet<Page<Delivery>>(path, { status: 'retrying', limit: 1 }, { enabled: failing })
  const failed = useGet<Page<Delivery>>(path, { status: 'failed', limit: 1 }, { enabled: failing })
  const last = [...(retrying.data?.items ?? []), ...(failed.data?.items ?? [])][0]
  if (!failing || last === undefined) return null
  return (
    <p className="t13 mt-3">
      The last failure: <span className="c-fail med">{splitError(last.last_error ?? 'unknown')[1]}</span>, for{' '}
      {last.event_type}.{' '}
      <A className="link" href={view.with({ tab: 'deliveries', delivery: last.id })}>
        See its attempts
      </A>
    </p>
  )
}

function HealthActions({ item }: { item: Webhook }) {
  const can = useCan()
  const [again, setAgain] = useState(false)
  const reason = can('webhooks:write').reason
  const verb = item.status === 'active' ? 'pause' : 'resume'
  const change = useMutation({
    mutationFn: () => api.post<Webhook>(`${WEBHOOKS}/${item.id}/${verb}`),
    onSuccess: async () => {
      const text = verb === 'pause' ? 'paused' : 'resumed'
      notify({ kind: 'pass', text: `${hostOf(item.url)} is ${text}` })
      await refresh(WEBHOOKS)
    },
    onError: (error) => notifyProblem(error, verb === 'pause' ? 'Not paused' : 'Not resumed'),
  })
  return (
    <div className="flex wrap mt-3">
      <Button
        small
        kind={verb === 'resume' ? 'primary' : 'plain'}
        busy={change.isPending}
        reason={reason}
        onClick={() => change.mutate()}
      >
        {verb === 'pause' ? 'Pause' : 'Resume'}
      </Button>
      <Button small icon="refresh" reason={reason} onClick={() => setAgain(true)}>
        Send again since…
      </Button>
      {again && <RedeliverDialog items={[item]} onClose={() => setAgain(false)} />}
    </div>
  )
}
