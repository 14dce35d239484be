import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { count } from '../../lib/format.ts'
import { refresh, useGet } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { RecordBox } from '../../ui/copy.tsx'
import { Check, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import type { Anchors } from './types.ts'

const PATH = '/v1/instance/anchors'
const FIELDS = ['mail_to', 'syslog', 'webhook_url']
/** The job that sends what is due. */
const SENDER = 'checkpoints'

const SENT_AFTER_MS = 2000

const PROTOCOLS = [
  { value: 'tcp', label: 'TCP' },
  { value: 'udp', label: 'UDP: a lost line is not noticed' },
] as const

/** Where signed checkpoints of the audit log go, out of reach of whoever holds this machine. */
export function InstanceAnchors() {
  const anchors = useGet<Anchors>(PATH)
  if (anchors.error !== null && anchors.data === undefined) {
    return <ProblemNotice error={anchors.error} retry={() => void anchors.refetch()} />
  }
  if (anchors.data === undefined) return <span className="sk" />
  const { mail_to, syslog, webhook_url } = anchors.data
  return (
    <>
      <AnchorForm key={JSON.stringify([mail_to, syslog, webhook_url])} anchors={anchors.data} />
      <Targets anchors={anchors.data} />
      <Latest anchors={anchors.data} />
    </>
  )
}

function draftOf({ mail_to, syslog, webhook_url }: Anchors) {
  return {
    mail_to: mail_to.join('\n'),
    with_syslog: syslog !== null,
    host: syslog?.host ?? '',
    port: String(syslog?.port ?? 514),
    protocol: syslog?.protocol ?? ('tcp' as const),
    webhook_url: webhook_url ?? '',
  }
}
type Draft = ReturnType<typeof draftOf>

const addressesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((part) => part !== '')

/** The server says which number of the list it is, not what stands there. */
function wrongAddress({ mail_to }: Draft): string | undefined {
  const wrong = addressesOf(mail_to).find((text) => !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text))
  return wrong === undefined ? undefined : `“${wrong}” is not an address`
}

function bodyOf({ mail_to, with_syslog, host, port, protocol, webhook_url }: Draft) {
  return {
    mail_to: addressesOf(mail_to),
    syslog: with_syslog ? { host: host.trim(), port: Number(port), protocol } : null,
    webhook_url: webhook_url.trim() === '' ? null : webhook_url.trim(),
  }
}

function missingIn({ with_syslog, host, port }: Draft): string | undefined {
  if (!with_syslog) return undefined
  if (host.trim() === '') return 'name the syslog server'
  return /^\d{1,5}$/.test(port.trim()) ? undefined : 'the port is a number'
}

function AnchorForm({ anchors }: { anchors: Anchors }) {
  const [draft, setDraft] = useState(() => draftOf(anchors))
  // While somebody types, nothing is wrong yet.
  const [asked, setAsked] = useState(false)
  const change = (patch: Partial<Draft>) => setDraft({ ...draft, ...patch })
  const save = useMutation({
    mutationFn: () => api.put<Anchors>(PATH, bodyOf(draft)),
    onSuccess: async () => {
      notify({ kind: 'pass', text: 'Saved: the next checkpoint goes there' })
      await refresh(PATH)
    },
  })
  const same = JSON.stringify(bodyOf(draft)) === JSON.stringify(bodyOf(draftOf(anchors)))
  const reason = missingIn(draft) ?? (same ? 'nothing has changed' : undefined)
  return (
    <Panel title="Anchors" sub="where checkpoints of the audit log are sent">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(true)
          if (reason === undefined && wrongAddress(draft) === undefined && !save.isPending) save.mutate()
        }}
      >
        <p className="t13 t2">
          A checkpoint is one signed line that vouches for everything before it. Kept where nobody here can
          change it, it shows every later change to the log.
        </p>
        <TextArea
          label="By mail, once a day"
          hint="One address a line. Needs the mail server"
          rows={2}
          spellCheck={false}
          value={draft.mail_to}
          onText={(mail_to) => change({ mail_to })}
          error={asked ? (wrongAddress(draft) ?? fieldError(save.error, 'mail_to')) : undefined}
        />
        <SyslogFields draft={draft} change={change} error={fieldError(save.error, 'syslog')} />
        <TextField
          label="Webhook, every checkpoint"
          type="url"
          hint='Gets {"checkpoints": ["…"]} by POST. Empty: none'
          spellCheck={false}
          value={draft.webhook_url}
          onText={(webhook_url) => change({ webhook_url })}
          error={fieldError(save.error, 'webhook_url')}
        />
        {save.error !== null && !isAllFields(save.error, FIELDS) && <ProblemNotice error={save.error} />}
        <div className="flex wrap">
          <Button type="submit" kind="primary" busy={save.isPending} reason={reason}>
            Save
          </Button>
        </div>
      </form>
    </Panel>
  )
}

interface SyslogProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  error: string | undefined
}

function SyslogFields({ draft, change, error }: SyslogProps) {
  return (
    <fieldset className="fset">
      <legend>Syslog, every checkpoint</legend>
      <Check
        label="Send to a syslog server"
        checked={draft.with_syslog}
        onValue={(with_syslog) => change({ with_syslog })}
      />
      {draft.with_syslog && (
        <div className="grid grid-3">
          <TextField
            label="Syslog server"
            spellCheck={false}
            value={draft.host}
            onText={(host) => change({ host })}
            error={error}
          />
          <TextField
            label="Port"
            inputMode="numeric"
            value={draft.port}
            onText={(port) => change({ port })}
          />
          <SelectField
            label="Protocol"
            value={draft.protocol}
            options={PROTOCOLS}
            onValue={(protocol) => change({ protocol })}
          />
        </div>
      )}
    </fieldset>
  )
}

const KIND_WORDS = { mail: 'Mail', syslog: 'Syslog', webhook: 'Webhook' } as const

/** What has arrived where, and why not. */
function Targets({ anchors }: { anchors: Anchors }) {
  const send = useMutation({
    mutationFn: () => api.post(`/v1/instance/jobs/${SENDER}/run`),
    onSuccess: async () => {
      notify({ kind: 'info', text: 'Sending what is due' })
      await refresh(PATH, '/v1/instance/jobs')
      // The job goes on after the answer: what came of it is read a moment later.
      setTimeout(() => void refresh(PATH), SENT_AFTER_MS)
    },
    onError: (error) => notifyProblem(error, 'Not sent'),
  })
  const none = anchors.targets.length === 0 ? 'nothing is set up' : undefined
  return (
    <Panel
      title="What arrived"
      actions={
        <Button small icon="refresh" busy={send.isPending} reason={none} onClick={() => send.mutate()}>
          Send now
        </Button>
      }
    >
      {anchors.targets.length === 0 ? (
        <Empty kind="yet" icon="audit" title="Nothing is held outside this machine">
          Until then, whoever holds this machine and its key could write the log anew.
        </Empty>
      ) : (
        <div className="list">
          <table className="t">
            <caption className="vh">Destinations of checkpoints</caption>
            <thead>
              <tr>
                <th scope="col">To</th>
                <th scope="col">State</th>
                <th scope="col" className="num p2">
                  Newest that arrived
                </th>
                <th scope="col" className="p1">
                  Sent
                </th>
                <th scope="col" className="p3">
                  Last attempt
                </th>
              </tr>
            </thead>
            <tbody>
              {anchors.targets.map((row) => (
                <TargetRow key={row.kind} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

function TargetRow({ row }: { row: Anchors['targets'][number] }) {
  return (
    <tr>
      <td>{KIND_WORDS[row.kind]}</td>
      <td className="brk">
        {row.error !== null ? (
          <State kind="fail">{row.error}</State>
        ) : row.sent_at === null ? (
          <State kind="pending">Not sent yet</State>
        ) : (
          <State kind="pass">Arrived</State>
        )}
      </td>
      <td className="num p2">{row.sent_n === 0 ? '' : count(row.sent_n)}</td>
      <td className="p1">
        <Time at={row.sent_at} as="relative" />
      </td>
      <td className="p3">
        <Time at={row.tried_at} as="relative" />
      </td>
    </tr>
  )
}

function Latest({ anchors: { latest } }: { anchors: Anchors }) {
  if (latest === null) return null
  return (
    <Panel title="Newest checkpoint" sub={`number ${count(latest.n)}, to be kept by hand`}>
      <div className="pad">
        <RecordBox text={latest.line} what="checkpoint" />
      </div>
    </Panel>
  )
}
