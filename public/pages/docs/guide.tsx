import type { Reference } from './model.ts'
import { PlainTable, Prose } from './prose.tsx'

export interface Chapter {
  id: string
  title: string
}

/** Chapters before the operations; only those the document has something for. */
export function chaptersOf(reference: Reference): Chapter[] {
  return [
    { id: 'about', title: 'Start here', has: true },
    {
      id: 'authentication',
      title: 'Authentication',
      has: reference.schemes.length > 0 || reference.scopes.length > 0,
    },
    { id: 'limits', title: 'Rate limits', has: reference.limits.length > 0 },
    { id: 'errors', title: 'Errors', has: reference.errors.length > 0 },
  ].filter((chapter) => chapter.has)
}

export function ChapterView({ id, reference }: { id: string; reference: Reference }) {
  if (id === 'authentication') return <Authentication reference={reference} />
  if (id === 'limits') return <Limits reference={reference} />
  if (id === 'errors') return <Errors reference={reference} />
  return (
    <article className="doc-op doc-chapter" aria-labelledby="doc-title">
      <h1 id="doc-title" tabIndex={-1}>
        {reference.title}
      </h1>
      <p className="t13 t2">
        Version {reference.version}. Everything here is served by this installation; the machine-readable
        document is at <a href="/docs/json">/docs/json</a>.
      </p>
      {reference.description === '' ? null : <Prose source={reference.description} level={2} />}
    </article>
  )
}

function Authentication({ reference }: { reference: Reference }) {
  return (
    <article className="doc-op doc-chapter" aria-labelledby="doc-title">
      <h1 id="doc-title" tabIndex={-1}>
        Authentication
      </h1>
      <Prose
        level={2}
        source={
          'Send the key with every request. Keys are made under Settings, API keys, are shown once, and carry only the scopes they were given.\n\n```\nAuthorization: Bearer wdp_…\n```\n\nWithout a valid credential the answer is 401; with one that lacks the scope it is 403 and `required_scope` names it. Pages of this server use the session of the browser instead.'
        }
      />
      {reference.schemes.length === 0 ? null : (
        <PlainTable
          caption="Ways to authenticate"
          head={['Name', 'Type', 'Note']}
          rows={reference.schemes.map((scheme) => [`\`${scheme.name}\``, scheme.type, scheme.description])}
        />
      )}
      {reference.scopes.length === 0 ? null : (
        <>
          <h2>Scopes</h2>
          <PlainTable
            caption="Scopes"
            head={['Scope', 'Allows']}
            rows={reference.scopes.map((scope) => [`\`${scope.scope}\``, scope.description])}
          />
        </>
      )}
    </article>
  )
}

function Limits({ reference }: { reference: Reference }) {
  return (
    <article className="doc-op doc-chapter" aria-labelledby="doc-title">
      <h1 id="doc-title" tabIndex={-1}>
        Rate limits
      </h1>
      <Prose
        level={2}
        source={
          'Every authenticated answer carries `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` of the tightest limit. Above a limit the answer is 429 with `Retry-After` in seconds and `X-RateLimit-Scope`: `key`, `tenant` or `endpoint`. A refused request does not count.'
        }
      />
      <PlainTable
        caption="Rate limits"
        head={['Level', 'Limit', 'Counted', 'Note']}
        rows={reference.limits.map((row) => [row.level, row.limit, row.scope, row.note])}
      />
    </article>
  )
}

function Errors({ reference }: { reference: Reference }) {
  return (
    <article className="doc-op doc-chapter" aria-labelledby="doc-title">
      <h1 id="doc-title" tabIndex={-1}>
        Errors
      </h1>
      <Prose
        level={2}
        source={
          'Errors are `application/problem+json` (RFC 9457). Match on `code`: it is stable; `title` and `detail` are for people. `errors[]` names each wrong member by `pointer` (body) or `parameter` (query). Give `request_id` when you ask for help.'
        }
      />
      <PlainTable
        caption="Error codes"
        rowId={(row) => `error-${row[1]?.replaceAll('`', '')}`}
        head={['Status', 'Code', 'Meaning']}
        rows={reference.errors
          .toSorted((a, b) => a.status - b.status)
          .map((row) => [String(row.status), `\`${row.code}\``, row.title])}
      />
    </article>
  )
}
