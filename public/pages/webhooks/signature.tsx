import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api } from '../../lib/api.ts'
import { useCan } from '../../lib/me.ts'
import { useView } from '../../lib/view.ts'
import { Button, Seg } from '../../ui/button.tsx'
import { CopyTextButton } from '../../ui/copy.tsx'
import { Section } from '../../ui/drawer.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'
import { readHeaders } from './read-headers.ts'
import { Rotation } from './rotation.tsx'
import { SNIPPETS } from './snippets.ts'
import { WEBHOOKS } from './types.ts'
import type { Finding, NewWebhook, Webhook } from './types.ts'

/** The secret, why a signature does not fit, and how to check one. */
export function WebhookSignature(props: { item: Webhook; onSecret: (made: NewWebhook) => void }) {
  return (
    <>
      <Rotation {...props} />
      <Checker item={props.item} />
      <Snippets />
    </>
  )
}

const CHECK_WORDS: Record<string, string> = {
  body: 'Body',
  service_headers: 'Headers of X-Service-Signature',
  service_timestamp: 'X-Service-Signature-Timestamp',
  service_signature: 'X-Service-Signature',
  standard_headers: 'Headers of Standard Webhooks',
  standard_timestamp: 'webhook-timestamp',
  standard_signature: 'webhook-signature',
}

/** Paste what arrived; it says which part is wrong. Nothing is kept. */
function Checker({ item }: { item: Webhook }) {
  const can = useCan()
  const [headers, setHeaders] = useState('')
  const [body, setBody] = useState('')
  const check = useMutation({
    mutationFn: () =>
      api.post<{ ok: boolean; findings: Finding[] }>(`${WEBHOOKS}/${item.id}/check-signature`, {
        headers: readHeaders(headers),
        body,
      }),
  })
  const missing = headers.trim() === '' || body === '' ? 'paste the headers and the body' : undefined
  const reason = can('webhooks:read').reason ?? missing
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason === undefined) check.mutate()
  }
  return (
    <Section title="Why does it not verify?" count="nothing of it is kept">
      <form className="col g12" onSubmit={submit}>
        <TextArea
          label="Headers"
          hint="As your endpoint received them, one a line, or as JSON"
          mono
          rows={4}
          spellCheck={false}
          value={headers}
          onText={setHeaders}
        />
        <TextArea
          label="Body"
          hint="The raw text, byte for byte: a space more and no signature fits"
          mono
          rows={4}
          spellCheck={false}
          value={body}
          onText={setBody}
        />
        <div className="flex">
          <Button type="submit" busy={check.isPending} reason={reason} showReason>
            Check signature
          </Button>
        </div>
      </form>
      <div aria-live="polite">
        {check.error !== null && <ProblemNotice error={check.error} />}
        {check.data !== undefined && !check.isPending && (
          <Verdict ok={check.data.ok} findings={check.data.findings} />
        )}
      </div>
    </Section>
  )
}

function Verdict({ ok, findings }: { ok: boolean; findings: readonly Finding[] }) {
  return (
    <div className="mt-3 col g12">
      <Notice kind={ok ? 'pass' : 'high'}>
        {ok
          ? 'At least one of the two signatures is right and fresh.'
          : 'Neither signature is right: what is wrong stands below.'}
      </Notice>
      <dl className="props finds">
        {findings.map((finding) => (
          <div className="contents" key={finding.check}>
            <dt>
              <State kind={finding.ok ? 'pass' : 'fail'}>{CHECK_WORDS[finding.check] ?? finding.check}</State>
            </dt>
            <dd>{finding.detail}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function Snippets() {
  const view = useView()
  const asked = view.get('language')
  const shown = SNIPPETS.find((snippet) => snippet.id === asked) ?? SNIPPETS[0]
  if (shown === undefined) return null
  return (
    <Section title="Check a signature" actions={<CopyTextButton text={shown.code}>Copy code</CopyTextButton>}>
      <p className="t13 t2 mb-3">
        HMAC-SHA256 over the timestamp, a full stop and the raw body. Each delivery carries webhook-id,
        webhook-timestamp and webhook-signature as well, for the libraries of Standard Webhooks.
      </p>
      <Seg
        label="Language"
        value={shown.id}
        options={SNIPPETS.map(({ id, label }) => ({ value: id, label }))}
        onChange={(id) => view.set({ language: id === SNIPPETS[0]?.id ? undefined : id })}
      />
      <pre className="raw mt-3" tabIndex={0} aria-label={`Code in ${shown.label}`}>
        {shown.code}
      </pre>
    </Section>
  )
}
