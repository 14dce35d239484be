import type { Content, Operation } from './model.ts'

/** What a person typed into "Try it". */
export interface Draft {
  path: Record<string, string>
  query: Record<string, string>
  header: Record<string, string>
  body: string
  files: File[]
  key: string
}

export const isUpload = (content: Content | undefined): boolean =>
  content !== undefined && !/[/+]json|x-www-form-urlencoded|^text\//.test(content.type)

/** The path with its parameters filled in (an empty one stays as `{name}`) and the query of what was typed. */
export function requestPath(operation: Operation, draft: Pick<Draft, 'path' | 'query'>): string {
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (whole, name: string) => {
    const value = draft.path[name]
    return value === undefined || value === '' ? whole : encodeURIComponent(value)
  })
  const query = new URLSearchParams(
    Object.entries(draft.query).filter(([, value]) => value !== ''),
  ).toString()
  return query === '' ? path : `${path}?${query}`
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The same request for a shell. The key is a variable, so that no secret is copied along. */
export function curlSample(
  operation: Operation,
  base: string,
  draft: Pick<Draft, 'path' | 'query' | 'body'>,
): string {
  const lines = [
    `curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}${quote(base + requestPath(operation, draft))}`,
  ]
  if (!operation.isPublic) lines.push(`-H "Authorization: Bearer $WARDPOST_KEY"`)
  const content = operation.body?.content[0]
  if (isUpload(content)) {
    lines.push(
      content?.type === 'multipart/form-data' ? `-F 'file=@report.xml.gz'` : `--data-binary @report.xml.gz`,
    )
  } else if (content !== undefined) {
    lines.push(`-H ${quote(`Content-Type: ${content.type}`)}`, `-d ${quote(draft.body)}`)
  }
  return lines.join(' \\\n  ')
}

/** The request that the browser sends. Without a key the session of this browser is used. */
export function requestInit(operation: Operation, draft: Draft): RequestInit {
  const headers = new Headers(Object.entries(draft.header).filter(([, value]) => value !== ''))
  if (draft.key !== '') headers.set('Authorization', `Bearer ${draft.key}`)
  const init: RequestInit = {
    method: operation.method,
    headers,
    credentials: draft.key === '' ? 'same-origin' : 'omit',
  }
  const content = operation.body?.content[0]
  if (content === undefined) return init
  if (isUpload(content)) {
    const form = new FormData()
    for (const file of draft.files) form.append('file', file)
    return { ...init, body: form }
  }
  headers.set('Content-Type', content.type)
  return { ...init, body: draft.body }
}
