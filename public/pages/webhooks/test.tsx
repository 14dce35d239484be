import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { bytes, count } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { Disclosure, Section } from '../../ui/drawer.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'
import { WEBHOOKS } from './types.ts'
import type { TestResult, Webhook } from './types.ts'
import { answerWords } from './words.tsx'

/** A signed example, sent now; what the receiver said, word for word. */
export function TestSection({ item }: { item: Webhook }) {
  const can = useCan()
  const [type, setType] = useState(item.events[0] ?? '')
  const test = useMutation({
    mutationFn: () => api.post<TestResult>(`${WEBHOOKS}/${item.id}/test`, { type }),
    onSuccess: () => refresh('/v1/audit'),
  })
  return (
    <Section title="Test" count="a signed example, answered within 10 s; leaves no delivery">
      <div className="flex wrap testrow">
        <SelectField
          label="Kind of event"
          fieldClass="grow"
          value={type}
          options={item.events.map((name) => ({ value: name, label: name }))}
          onValue={setType}
        />
        <Button
          icon="send"
          busy={test.isPending}
          reason={can('webhooks:write').reason}
          onClick={() => test.mutate()}
        >
          {test.isPending ? 'Waiting for the answer' : 'Send test'}
        </Button>
      </div>
      <div aria-live="polite">
        {test.error !== null && <ProblemNotice error={test.error} />}
        {test.data !== undefined && !test.isPending && <Answer result={test.data} />}
      </div>
    </Section>
  )
}

function Answer({ result }: { result: TestResult }) {
  const size = new TextEncoder().encode(result.response_body).length
  const headers = Object.entries(result.request_headers)
  return (
    <div className="mt-3 col g12">
      <p className="t13 flex wrap">
        <State kind={result.ok ? 'pass' : 'fail'}>{answerWords(result)}</State>
        <span className="t3">
          in {count(result.ms)} ms
          {result.address === null ? '' : ` from ${result.address}`}
        </span>
      </p>
      {result.error !== null && result.error_class !== 'http_status' && (
        <p className="t13 t2">The reason: {result.error}.</p>
      )}
      <Body text={result.response_body} label="What the receiver said" size={size} />
      {headers.length > 0 && (
        <Disclosure summary="What was sent with it">
          <pre className="raw raw--wrap" tabIndex={0} aria-label="Headers of the request">
            {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          </pre>
        </Disclosure>
      )}
    </div>
  )
}

/** The body of an answer as text; nothing of it is interpreted. */
export function Body({ text, label, size }: { text: string; label: string; size: number }) {
  if (text === '') return <p className="t12 t3">{label}: nothing, the body is empty.</p>
  return (
    <div>
      <p className="t12 t3 mb-1">
        {label}, {bytes(size)}
      </p>
      <pre className="raw raw--wrap" tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </div>
  )
}
