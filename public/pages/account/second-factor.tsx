import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError } from '../../lib/api.ts'
import { refreshMe, useMe } from '../../lib/me.ts'
import { Button } from '../../ui/button.tsx'
import { RecordBox } from '../../ui/copy.tsx'
import { FormDialog, SecretDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { notify } from '../../ui/toast.tsx'
import { QrCode } from './qr.tsx'

interface Enrolment {
  secret: string
  otpauth_url: string
}

type Step =
  | { at: 'start' }
  | { at: 'renew' }
  | { at: 'disable' }
  | { at: 'scan'; enrolment: Enrolment }
  | { at: 'codes'; codes: string[] }

/** Fewer left than this is worth a warning: a lost phone then costs an administrator. */
const CODES_LOW = 3
const quiet = () => undefined

/** TOTP: turn on (password, scan, code, recovery codes), renew the codes, turn off. */
export function SecondFactorPanel() {
  const { user } = useMe()
  const [step, setStep] = useState<Step>()
  if (user === null) return null
  const low = user.totp_enabled && user.recovery_codes_left < CODES_LOW
  return (
    <Panel title="Second factor" sub="a code from an app on your phone, asked at every sign-in">
      <div className="pad col g12">
        <div className="flex wrap g16">
          {user.totp_enabled ? <State kind="pass">On</State> : <State kind="warn">Off</State>}
          {user.totp_enabled && (
            <span className="t13 t2">{user.recovery_codes_left} of 10 recovery codes left</span>
          )}
          <span className="grow" />
          {user.totp_enabled ? (
            <>
              <Button onClick={() => setStep({ at: 'renew' })}>New recovery codes</Button>
              <Button kind="danger" onClick={() => setStep({ at: 'disable' })}>
                Turn off
              </Button>
            </>
          ) : (
            <Button kind="primary" onClick={() => setStep({ at: 'start' })}>
              Set up
            </Button>
          )}
        </div>
        {low && (
          <Notice kind="high">Few recovery codes are left. Make new ones before the phone is lost.</Notice>
        )}
      </div>
      {step !== undefined && <StepDialog step={step} go={setStep} />}
    </Panel>
  )
}

/** Each dialog exists only while it is open, so that passwords and codes do not outlive it. */
function StepDialog({ step, go }: { step: Step; go: (step: Step | undefined) => void }) {
  const close = () => go(undefined)
  const show = (codes: string[]) => {
    go({ at: 'codes', codes })
    void refreshMe()
  }
  if (step.at === 'start') {
    return (
      <PasswordStep<Enrolment>
        title="Set up the second factor"
        path="/v1/me/totp"
        submit="Continue"
        onClose={close}
        onDone={(enrolment) => go({ at: 'scan', enrolment })}
      >
        Your password first, so that nobody at an unlocked screen can do this.
      </PasswordStep>
    )
  }
  if (step.at === 'scan') return <ScanStep enrolment={step.enrolment} onClose={close} onDone={show} />
  if (step.at === 'renew') {
    return (
      <PasswordStep<{ recovery_codes: string[] }>
        title="Make new recovery codes"
        path="/v1/me/recovery-codes"
        submit="Make new codes"
        onClose={close}
        onDone={({ recovery_codes }) => show(recovery_codes)}
      >
        The codes you have now stop working.
      </PasswordStep>
    )
  }
  if (step.at === 'disable') return <DisableStep onClose={close} />
  return (
    <SecretDialog
      open
      multiline
      title="Save these recovery codes now"
      label="Recovery codes, each works once"
      secret={step.codes.join('\n')}
      onSaved={close}
    >
      <p className="t2 t13">Without the phone, one of them takes the place of the six digits.</p>
    </SecretDialog>
  )
}

function DisableStep({ onClose }: { onClose: () => void }) {
  return (
    <PasswordStep
      title="Turn off the second factor"
      path="/v1/me/totp/disable"
      submit="Turn off"
      onClose={onClose}
      onDone={() => {
        onClose()
        notify({ kind: 'pass', text: 'The second factor is off' })
        void refreshMe()
      }}
    >
      From then on the password alone is enough to sign in as you.
    </PasswordStep>
  )
}

interface PasswordStepProps<T> {
  title: string
  path: string
  submit: string
  onClose: () => void
  onDone: (answer: T) => void
  children: string
}

function PasswordStep<T>({ title, path, submit, onClose, onDone, children }: PasswordStepProps<T>) {
  const [password, setPassword] = useState('')
  const send = useMutation({ mutationFn: () => api.post<T>(path, { password }), onSuccess: onDone })
  const error = fieldError(send.error, 'password')
  return (
    <FormDialog
      open
      title={title}
      submitLabel={submit}
      onClose={onClose}
      onSubmit={() => send.mutateAsync().then(quiet, quiet)}
      busy={send.isPending}
      error={send.error}
      hideError={error !== undefined}
      reason={password === '' ? 'enter your password' : undefined}
    >
      <p className="t2">{children}</p>
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        autoFocus
        value={password}
        onText={setPassword}
        error={error}
      />
    </FormDialog>
  )
}

interface ScanStepProps {
  enrolment: Enrolment
  onClose: () => void
  onDone: (codes: string[]) => void
}

function ScanStep({ enrolment, onClose, onDone }: ScanStepProps) {
  const [code, setCode] = useState('')
  const confirm = useMutation({
    mutationFn: () => api.post<{ recovery_codes: string[] }>('/v1/me/totp/confirm', { code }),
    onSuccess: ({ recovery_codes }) => onDone(recovery_codes),
  })
  const error = fieldError(confirm.error, 'code')
  return (
    <FormDialog
      open
      title="Scan and enter the first code"
      submitLabel="Turn on"
      onClose={onClose}
      onSubmit={() => confirm.mutateAsync().then(quiet, quiet)}
      busy={confirm.isPending}
      error={confirm.error}
      hideError={error !== undefined}
      reason={/^\d{6}$/.test(code) ? undefined : 'enter six digits'}
    >
      <div className="qr-row">
        <QrCode text={enrolment.otpauth_url} label="QR code for the authenticator app" />
        <div className="col g12 grow">
          <p className="t2">Scan it with an authenticator app, or type the secret there by hand.</p>
          <RecordBox text={enrolment.secret} what="secret" />
          <TextField
            label="Six digits from the app"
            inputMode="numeric"
            autoComplete="one-time-code"
            autoFocus
            mono
            maxLength={7}
            value={code}
            onText={(text) => setCode(text.replaceAll(/\s/g, ''))}
            error={error}
          />
        </div>
      </div>
    </FormDialog>
  )
}
