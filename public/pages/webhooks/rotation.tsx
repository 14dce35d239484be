import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { exact, relative } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/drawer.tsx'
import { Radio } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import { hostOf, maskedSecret, WEBHOOKS } from './types.ts'
import type { NewWebhook, Webhook } from './types.ts'

const quiet = () => undefined

interface Props {
  item: Webhook
  onSecret: (made: NewWebhook) => void
}

/** A new secret without a gap: both are known for a while, then the new one signs alone. */
export function Rotation({ item, onSecret }: Props) {
  const can = useCan()
  const [asking, setAsking] = useState(false)
  const reason = can('webhooks:write').reason
  return (
    <Section title="Secret" count={<span className="mono">{maskedSecret(item.secret_last4)}</span>}>
      {item.rotation === null ? (
        <p className="t13 t2">
          Signs every delivery. To replace it without a gap, a new one is made first; your receiver learns it;
          then the new one takes over.
        </p>
      ) : (
        <Running item={item} rotation={item.rotation} reason={reason} />
      )}
      <div className="flex wrap mt-3">
        <Button small icon="refresh" reason={reason} onClick={() => setAsking(true)}>
          {item.rotation === null ? 'Replace the secret' : 'Make another new secret'}
        </Button>
      </div>
      {asking && (
        <RotateDialog
          item={item}
          onClose={() => setAsking(false)}
          onSecret={(made) => {
            setAsking(false)
            onSecret(made)
          }}
        />
      )}
    </Section>
  )
}

interface RunningProps {
  item: Webhook
  rotation: NonNullable<Webhook['rotation']>
  reason: string | undefined
}

/** The three steps, and which is yours. */
function Running({ item, rotation, reason }: RunningProps) {
  const promote = useMutation({
    mutationFn: () => api.post<Webhook>(`${WEBHOOKS}/${item.id}/secret/promote`),
    onSuccess: async () => {
      notify({ kind: 'pass', text: `Only ${maskedSecret(rotation.next_secret_last4)} signs now` })
      await refresh(WEBHOOKS)
    },
    onError: (error) => notifyProblem(error, 'Not promoted'),
  })
  return (
    <ol className="rot" aria-label="Steps of the replacement">
      <li>
        <State kind="pass">
          The new secret <span className="mono">{maskedSecret(rotation.next_secret_last4)}</span> is made
        </State>
      </li>
      <li>
        <State kind="half">Put it into your receiver</State>
        <p className="sub">
          webhook-signature carries both signatures now. X-Service-Signature stays with the old secret until
          the last step.
        </p>
      </li>
      <li>
        <State kind="pending">Let the new secret sign alone</State>
        <p className="sub">
          By itself {exact(rotation.promote_at)}, {relative(rotation.promote_at)}; sooner when you say so.
        </p>
        <Button
          small
          kind="primary"
          className="mt-1"
          busy={promote.isPending}
          reason={reason}
          onClick={() => promote.mutate()}
        >
          Promote now
        </Button>
      </li>
    </ol>
  )
}

function RotateDialog({ item, onClose, onSecret }: Props & { onClose: () => void }) {
  const [immediate, setImmediate] = useState(false)
  const rotate = useMutation({
    mutationFn: () =>
      api.post<NewWebhook>(`${WEBHOOKS}/${item.id}/secret/rotate`, undefined, {
        query: immediate ? { immediate: true } : {},
      }),
    onSuccess: async (made) => {
      onSecret(made)
      await refresh(WEBHOOKS)
    },
  })
  return (
    <FormDialog
      open
      title={`Replace the secret of ${hostOf(item.url)}`}
      submitLabel="Make the new secret"
      onClose={onClose}
      onSubmit={() => rotate.mutateAsync().then(quiet, quiet)}
      busy={rotate.isPending}
      error={rotate.error}
    >
      <div className="roles col g12" role="radiogroup" aria-label="How">
        <Radio
          name="how"
          checked={!immediate}
          onValue={() => setImmediate(false)}
          label={
            <>
              <span className="med">In two steps</span>
              <span className="sub">The old one goes on for 24 hours, or until you promote the new one.</span>
            </>
          }
        />
        <Radio
          name="how"
          checked={immediate}
          onValue={() => setImmediate(true)}
          label={
            <>
              <span className="med">At once, after a leak</span>
              <span className="sub">The old one signs nothing any more from this moment.</span>
            </>
          }
        />
      </div>
      {immediate && (
        <Notice kind="high">
          Until your receiver knows the new secret, it will refuse deliveries; they are tried again for 31
          hours.
        </Notice>
      )}
    </FormDialog>
  )
}
