import { CopyButton } from '../../ui/copy.tsx'
import type { Answer, Content, Obj, Operation, Parameter } from './model.ts'
import { Inline, Prose } from './prose.tsx'
import { curlSample } from './request.ts'
import { exampleOf, readShape } from './schema.ts'
import { ShapeLine, ShapeView } from './shape.tsx'
import type { Direction } from './shape.tsx'
import { TryIt } from './try-it.tsx'

/** What is asked, or that it is sent. */
export function Method({ operation }: { operation: Operation }) {
  const { kind, method } = operation
  return (
    <span className={`doc-method doc-method--${method.toLowerCase()}`}>
      {kind === 'event' ? 'EVENT' : method}
    </span>
  )
}

/** Method and path, with the parts to fill in marked. */
export function PathText({ path }: { path: string }) {
  return path.split(/(\{[^}]+\})/).map((part, index) =>
    part.startsWith('{') ? (
      <span key={index} className="doc-path__p">
        {part}
      </span>
    ) : (
      part
    ),
  )
}

export const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** The example that a body starts with: the written one, else one built from the schema. */
export function bodyExample(document: Obj, content: Content | undefined): string {
  if (content === undefined) return ''
  return content.example ?? pretty(exampleOf(document, content.schema))
}

interface OperationProps {
  operation: Operation
  document: Obj
  base: string
}

export function OperationView({ operation, document, base }: OperationProps) {
  const places = (['path', 'query', 'header'] as const)
    .map((place) => ({ place, parameters: operation.parameters.filter((entry) => entry.place === place) }))
    .filter((group) => group.parameters.length > 0)
  return (
    <article className="doc-op" aria-labelledby="doc-title">
      <header className="doc-op__h">
        <h1 id="doc-title" tabIndex={-1}>
          {operation.summary}
        </h1>
        <p className="doc-path">
          <Method operation={operation} />
          <span className="mono brk">
            <PathText path={operation.path} />
          </span>
          <CopyButton text={operation.path} what={operation.kind === 'event' ? 'kind' : 'path'} />
        </p>
        <p className="doc-need">
          <AccessText operation={operation} />
          {operation.deprecated ? <span className="tag t-high">Deprecated</span> : null}
        </p>
        {operation.description === '' ? null : <Prose source={operation.description} level={2} />}
      </header>
      {places.map((group) => (
        <ParameterTable
          key={group.place}
          place={group.place}
          parameters={group.parameters}
          document={document}
        />
      ))}
      {operation.body === undefined ? null : (
        <section className="panel" aria-label="Request body">
          <header className="panel__h">
            <h2>Request body</h2>
            <span className="panel__sub">{operation.body.required ? 'required' : 'optional'}</span>
          </header>
          {operation.body.content.map((content) => (
            <ContentView key={content.type} content={content} document={document} way="in" />
          ))}
        </section>
      )}
      {operation.kind === 'request' && (
        <SampleAndTrial operation={operation} document={document} base={base} />
      )}
      <Answers answers={operation.answers} document={document} />
    </article>
  )
}

function SampleAndTrial({ operation, document, base }: OperationProps) {
  const sample = curlSample(operation, base, {
    path: {},
    query: {},
    body: bodyExample(document, operation.body?.content[0]),
  })
  return (
    <>
      <section className="panel" aria-label="Sample request">
        <header className="panel__h">
          <h2>Sample request</h2>
          <span className="grow" />
          <CopyButton text={sample} what="sample request" />
        </header>
        <pre className="raw doc-sample" tabIndex={0} aria-label="Sample request for a shell">
          {sample}
        </pre>
      </section>
      <TryIt key={operation.id} operation={operation} document={document} />
    </>
  )
}

function AccessText({ operation }: { operation: Operation }) {
  if (operation.kind === 'event') return <span>Sent by POST to the webhooks that asked for it</span>
  if (operation.isPublic) return <span>No credential needed</span>
  if (operation.scope === undefined) return <span>Any valid key or session</span>
  return (
    <span>
      Needs the scope <code className="doc-code">{operation.scope}</code>
      {operation.scope.startsWith('instance:') ? ': operators of this installation' : ''}
    </span>
  )
}

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Request headers' } as const

function ParameterTable(props: { place: keyof typeof PLACES; parameters: Parameter[]; document: Obj }) {
  const title = PLACES[props.place]
  return (
    <section className="panel" aria-label={title}>
      <header className="panel__h">
        <h2>{title}</h2>
      </header>
      <ul className="doc-members doc-members--top">
        {props.parameters.map((parameter) => (
          <li key={parameter.name} className="doc-member">
            <span className="doc-member__n mono">{parameter.name}</span>{' '}
            {parameter.required ? <span className="doc-member__r">required</span> : null}
            <ShapeLine
              shape={{ ...readShape(props.document, parameter.schema), description: parameter.description }}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** One media type: the example beside the schema. */
function ContentView({ content, document, way }: { content: Content; document: Obj; way: Direction }) {
  const isJson = /[/+]json/.test(content.type)
  const example = content.example ?? (isJson ? pretty(exampleOf(document, content.schema)) : undefined)
  const hasSchema = Object.keys(content.schema).length > 0
  return (
    <div className="doc-content">
      <p className="t12 t3 mono">{content.type}</p>
      {hasSchema ? <ShapeView shape={readShape(document, content.schema)} way={way} /> : null}
      {example === undefined || example === 'null' ? null : (
        <details className="doc-example">
          <summary className="doc-more">Example</summary>
          <div className="doc-block">
            <pre className="raw" tabIndex={0} aria-label={`Example, ${content.type}`}>
              {example}
            </pre>
            <CopyButton text={example} what="example" />
          </div>
        </details>
      )}
    </div>
  )
}

function Answers({ answers, document }: { answers: Answer[]; document: Obj }) {
  return (
    <section className="panel" aria-label="Answers">
      <header className="panel__h">
        <h2>Answers</h2>
      </header>
      {answers.length === 0 ? <p className="pad t13 t2">The document names no answers.</p> : null}
      {answers.map((answer) => (
        <details key={answer.status} className="doc-answer" open={answer.status.startsWith('2')}>
          <summary>
            <b className={answer.status.startsWith('2') ? 'c-pass' : 'c-high'}>{answer.status}</b>
            <span className="t2">
              <Inline text={answerText(answer)} />
            </span>
          </summary>
          {answer.headers.length === 0 ? null : <HeaderList headers={answer.headers} />}
          {answer.content.map((content) => (
            <ContentView key={content.type} content={content} document={document} way="out" />
          ))}
        </details>
      ))}
    </section>
  )
}

function HeaderList({ headers }: { headers: Answer['headers'] }) {
  return (
    <details className="doc-headers">
      <summary className="doc-more">
        {headers.length === 1 ? '1 header' : `${headers.length} headers`}
      </summary>
      <dl>
        {headers.map((header) => (
          <div key={header.name} className="doc-headers__r">
            <dt className="mono">{header.name}</dt>
            <dd>
              <Inline text={header.description} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** The generator's own filler says less than the status does. */
function answerText({ status, description }: Answer): string {
  const filler = description === '' || /^Response for status \d+$/.test(description)
  return filler ? (STATUS_TEXT[status] ?? 'Answer') : description
}

const STATUS_TEXT: Readonly<Record<string, string>> = {
  '200': 'Done',
  '201': 'Created',
  '204': 'Done, without content',
  '304': 'Not changed since the given version',
  '400': 'The body or the cursor cannot be read',
  '401': 'No valid credential',
  '403': 'The credential may not do this',
  '404': 'Not there, or of another tenant',
  '409': 'The state does not allow it',
  '412': 'Changed in the meantime',
  '413': 'Too large',
  '415': 'The media type is not supported',
  '422': 'The request is not valid',
  '429': 'A rate limit is exceeded',
  '500': 'Something went wrong here',
  '503': 'Not ready',
  '507': 'The disk is full',
}
