import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import type { Obj, Operation, Parameter } from './model.ts'
import { bodyExample } from './operation.tsx'
import { isUpload, requestInit, requestPath } from './request.ts'
import type { Draft } from './request.ts'
import { readShape } from './schema.ts'

interface Outcome {
  status: number
  text: string
  ms: number
  headers: [string, string][]
  body: string
}

/** The longest body that is shown; more than this stalls the page and helps nobody. */
const BODY_CHARS_MAX = 100_000

/** Sends the request from this page, with a key typed here or with the session of this browser. */
export function TryIt({ operation, document }: { operation: Operation; document: Obj }) {
  const content = operation.body?.content[0]
  const [draft, setDraft] = useState<Draft>(() => ({
    path: {},
    query: {},
    header: {},
    body: isUpload(content) ? '' : bodyExample(document, content),
    files: [],
    key: '',
  }))
  const [outcome, setOutcome] = useState<Outcome | string>()
  const [busy, setBusy] = useState(false)

  const send = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setOutcome(undefined)
    const started = performance.now()
    try {
      const answer = await fetch(requestPath(operation, draft), requestInit(operation, draft))
      const text = await answer.text()
      setOutcome({
        status: answer.status,
        text: answer.statusText,
        ms: Math.round(performance.now() - started),
        headers: [...answer.headers.entries()],
        body: layOut(text),
      })
    } catch (error) {
      setOutcome(error instanceof Error ? error.message : 'The request could not be sent')
    }
    setBusy(false)
  }

  return (
    <details className="panel doc-try">
      <summary className="panel__h">
        <h2>Try it</h2>
        <span className="panel__sub">
          {operation.method === 'GET' ? 'asks this server' : 'changes real data on this server'}
        </span>
      </summary>
      <form className="pad col g16" onSubmit={(event) => void send(event)}>
        <TextField
          label="API key"
          mono
          autoComplete="off"
          spellCheck={false}
          hint="Empty: the session of this browser. The key stays on this page."
          value={draft.key}
          onText={(key) => setDraft({ ...draft, key: key.trim() })}
        />
        <Fields operation={operation} document={document} draft={draft} change={setDraft} />
        <div className="flex wrap">
          <Button type="submit" kind="primary" busy={busy}>
            {busy ? 'Sending' : 'Send request'}
          </Button>
          <span className="mono brk t2">
            {operation.method} {requestPath(operation, draft)}
          </span>
        </div>
      </form>
      <div aria-live="polite">{outcome === undefined ? null : <OutcomeView outcome={outcome} />}</div>
    </details>
  )
}

function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2).slice(0, BODY_CHARS_MAX)
  } catch {
    return text.slice(0, BODY_CHARS_MAX)
  }
}

interface FieldsProps {
  operation: Operation
  document: Obj
  draft: Draft
  change: (draft: Draft) => void
}

function Fields({ operation, document, draft, change }: FieldsProps) {
  const content = operation.body?.content[0]
  const inputs = operation.parameters.filter((parameter) => parameter.place !== 'cookie')
  return (
    <>
      {inputs.length === 0 ? null : (
        <div className="doc-try__g">
          {inputs.map((parameter) => {
            const place = parameter.place as 'path' | 'query' | 'header'
            const { values } = readShape(document, parameter.schema)
            return (
              <ParameterField
                key={`${place}-${parameter.name}`}
                parameter={parameter}
                values={values}
                value={draft[place][parameter.name] ?? ''}
                onValue={(value) =>
                  change({ ...draft, [place]: { ...draft[place], [parameter.name]: value } })
                }
              />
            )
          })}
        </div>
      )}
      {content === undefined ? null : isUpload(content) ? (
        <div className="field">
          <label htmlFor="try-file">Files</label>
          <input
            id="try-file"
            type="file"
            multiple
            onChange={(event) => change({ ...draft, files: [...(event.target.files ?? [])] })}
          />
        </div>
      ) : (
        <TextArea
          label="Body"
          mono
          rows={Math.min(16, Math.max(4, draft.body.split('\n').length))}
          spellCheck={false}
          value={draft.body}
          onText={(body) => change({ ...draft, body })}
        />
      )}
    </>
  )
}

/** Longer lists of values are typed. */
const CHOICES_MAX = 40

interface ParameterFieldProps {
  parameter: Parameter
  values: readonly string[]
  value: string
  onValue: (value: string) => void
}

function ParameterField({ parameter, values, value, onValue }: ParameterFieldProps) {
  const label = (
    <>
      <span className="mono">{parameter.name}</span>
      {parameter.required ? <span className="t3 t12"> required</span> : null}
    </>
  )
  if (values.length === 0 || values.length > CHOICES_MAX) {
    return (
      <TextField
        label={label}
        mono
        required={parameter.required}
        spellCheck={false}
        value={value}
        onText={onValue}
      />
    )
  }
  const none = { value: '', label: parameter.required ? 'Choose' : 'Not sent' }
  return (
    <SelectField
      label={label}
      value={value}
      options={[none, ...values.map((entry) => ({ value: entry, label: entry }))]}
      onValue={onValue}
    />
  )
}

function OutcomeView({ outcome }: { outcome: Outcome | string }) {
  if (typeof outcome === 'string')
    return (
      <p className="doc-out__f c-fail t13" role="alert">
        {outcome}
      </p>
    )
  const good = outcome.status < 400
  return (
    <div className="doc-out">
      <p className="t13">
        <b className={good ? 'c-pass' : 'c-fail'}>
          {outcome.status} {outcome.text}
        </b>{' '}
        <span className="t3">in {outcome.ms} ms</span>
      </p>
      <details>
        <summary className="doc-more">{outcome.headers.length} headers</summary>
        <pre className="raw" tabIndex={0} aria-label="Headers of the answer">
          {outcome.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </pre>
      </details>
      {outcome.body === '' ? (
        <p className="t12 t3">No body</p>
      ) : (
        <pre className="raw doc-out__b" tabIndex={0} aria-label="Body of the answer">
          {outcome.body}
        </pre>
      )}
    </div>
  )
}
