import { useGet } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { Disclosure } from '../../ui/drawer.tsx'
import { Check } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { WEBHOOKS } from './types.ts'
import type { EventKind } from './types.ts'

/** The kinds of event change only with the version of the server. */
export function useEventKinds() {
  return useGet<{ items: EventKind[] }>(`${WEBHOOKS}/events`, {}, { poll: false })
}

interface Props {
  value: readonly string[]
  onChange: (events: string[]) => void
  error?: string | undefined
}

/** Every kind with what it means; what is sent, behind a disclosure. */
export function EventPicker({ value, onChange, error }: Props) {
  const kinds = useEventKinds()
  const items = kinds.data?.items ?? []
  const all = items.length > 0 && items.every(({ type }) => value.includes(type))
  // In the order of the catalogue, whatever was ticked first.
  const toggle = (type: string, on: boolean) =>
    onChange(items.map((kind) => kind.type).filter((each) => (each === type ? on : value.includes(each))))
  return (
    <fieldset className="scopes kinds">
      <legend className="label">
        Events <span className="t12 t3">{`${value.length} of ${items.length}`}</span>
      </legend>
      <div className="flex">
        <Button small onClick={() => onChange(all ? [] : items.map(({ type }) => type))}>
          {all ? 'Choose none' : 'Choose all'}
        </Button>
      </div>
      {kinds.error !== null && <ProblemNotice error={kinds.error} retry={() => void kinds.refetch()} />}
      <div className="kinds__l" tabIndex={0} role="group" aria-label="Kinds of event">
        {items.map((kind) => (
          <div key={kind.type} className="kinds__k">
            <Check
              checked={value.includes(kind.type)}
              onValue={(on) => toggle(kind.type, on)}
              label={
                <>
                  <span className="med">{kind.title}</span>
                  <span className="sub mono brk">{kind.type}</span>
                  <span className="sub">{kind.description}</span>
                </>
              }
            />
            <KindExample kind={kind} />
          </div>
        ))}
      </div>
      {error === undefined ? null : (
        <p className="t12 c-critical" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}

/** One kind as a receiver gets it. */
export function KindExample({ kind }: { kind: EventKind }) {
  return (
    <Disclosure summary="What is sent">
      <FieldsOf kind={kind} />
      <pre className="raw raw--wrap" tabIndex={0} aria-label={`Example of ${kind.type}`}>
        {JSON.stringify(kind.example, null, 2)}
      </pre>
    </Disclosure>
  )
}

function FieldsOf({ kind }: { kind: EventKind }) {
  const fields = Object.entries(kind.schema.properties ?? {})
  return (
    <dl className="props mb-3">
      {fields.map(([name, { description }]) => (
        <div className="contents" key={name}>
          <dt className="mono brk">{name}</dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  )
}
