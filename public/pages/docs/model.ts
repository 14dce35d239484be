/**
 * Reads an OpenAPI 3.0 or 3.1 document into the few shapes the reference shows. It never throws on a document that is
 * odd: what it does not understand is shown as "any". References are resolved once per path, so a schema that holds
 * itself ends in a named leaf instead of a loop.
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export interface Obj {
  [key: string]: Json
}

export interface Parameter {
  name: string
  place: 'path' | 'query' | 'header' | 'cookie'
  required: boolean
  description: string
  schema: Obj
}

export interface Content {
  type: string
  schema: Obj
  example: string | undefined
}

export interface Answer {
  status: string
  description: string
  headers: { name: string; description: string }[]
  content: Content[]
}

export interface Operation {
  /** Stable anchor: method and path, so that a link outlives a renamed operationId. */
  id: string
  /** `event`: not asked by you but sent to you (OpenAPI `webhooks`); `path` is then the kind of event. */
  kind: 'request' | 'event'
  method: string
  path: string
  tag: string
  summary: string
  description: string
  scope: string | undefined
  /** No credential is needed: its `security` is an empty list. */
  isPublic: boolean
  deprecated: boolean
  parameters: Parameter[]
  body: { required: boolean; description: string; content: Content[] } | undefined
  answers: Answer[]
}

export interface Group {
  tag: string
  description: string
  operations: Operation[]
}

export interface Reference {
  title: string
  version: string
  description: string
  base: string
  groups: Group[]
  errors: { code: string; status: number; title: string }[]
  limits: { level: string; limit: string; scope: string; note: string }[]
  scopes: { scope: string; description: string }[]
  schemes: { name: string; type: string; description: string }[]
  document: Obj
}

const NO_TAG = 'Other'
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

export const isObj = (value: unknown): value is Obj =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const obj = (value: unknown): Obj => (isObj(value) ? value : {})
export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])
export const str = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

/** Follows `$ref` inside the document; a broken one gives an empty object. At most 16 steps. */
export function resolve(document: Obj, value: unknown): Obj {
  let current = obj(value)
  for (let step = 0; step < 16 && typeof current['$ref'] === 'string'; step++) {
    const parts = current['$ref'].replace(/^#\//, '').split('/')
    let found: Json | undefined = document
    for (const part of parts) found = obj(found)[part.replaceAll('~1', '/').replaceAll('~0', '~')]
    const { $ref: _, ...beside } = current
    current = { ...obj(found), ...beside }
  }
  return current
}

export function readReference(document: Obj): Reference {
  const info = obj(document['info'])
  const extension = (name: string): Json[] => list(document[name] ?? info[name])
  return {
    title: str(info['title']) || 'API reference',
    version: str(info['version']),
    description: str(info['description']),
    base: str(obj(list(document['servers'])[0])['url']).replace(/\/$/, ''),
    groups: readGroups(document),
    errors: extension('x-errors').map((row) => ({
      code: str(obj(row)['code']),
      status: Number(obj(row)['status']),
      title: str(obj(row)['title']),
    })),
    limits: extension('x-rate-limits').map((row) => ({
      level: str(obj(row)['level']),
      limit: str(obj(row)['limit']),
      scope: str(obj(row)['scope']),
      note: str(obj(row)['note']),
    })),
    scopes: extension('x-scopes').map((row) => ({
      scope: str(obj(row)['scope']),
      description: str(obj(row)['description']),
    })),
    schemes: Object.entries(obj(obj(document['components'])['securitySchemes'])).map(([name, value]) => {
      const scheme = resolve(document, value)
      const kind = [str(scheme['type']), str(scheme['scheme']), str(scheme['in'])].filter(Boolean).join(', ')
      return { name, type: kind, description: str(scheme['description']) }
    }),
    document,
  }
}

function readGroups(document: Obj): Group[] {
  const groups = new Map<string, Group>()
  for (const value of list(document['tags'])) {
    const tag = obj(value)
    const name = str(tag['name'])
    if (name !== '') groups.set(name, { tag: name, description: str(tag['description']), operations: [] })
  }
  const entries = [
    ...Object.entries(obj(document['paths'])).map((entry) => ({ kind: 'request' as const, entry })),
    ...Object.entries(obj(document['webhooks'])).map((entry) => ({ kind: 'event' as const, entry })),
  ]
  for (const { kind, entry } of entries) {
    const [path, value] = entry
    const item = resolve(document, value)
    for (const method of METHODS) {
      if (!isObj(item[method])) continue
      const operation = { ...readOperation(document, method, path, item, item[method]), kind }
      if (kind === 'event' && operation.tag === NO_TAG) operation.tag = 'Events'
      const group = groups.get(operation.tag) ?? { tag: operation.tag, description: '', operations: [] }
      group.operations.push(operation)
      groups.set(operation.tag, group)
    }
  }
  return [...groups.values()].filter((group) => group.operations.length > 0)
}

export const operationId = (method: string, path: string): string =>
  `${method}-${path.replaceAll(/[^a-zA-Z0-9.]+/g, '-').replaceAll(/^-|-$/g, '')}`

function readOperation(document: Obj, method: string, path: string, item: Obj, value: Obj): Operation {
  const parameters = [...list(item['parameters']), ...list(value['parameters'])].map((entry) =>
    readParameter(document, entry),
  )
  const body = resolve(document, value['requestBody'])
  const content = readContent(document, body)
  return {
    id: operationId(method, path),
    method: method.toUpperCase(),
    path,
    kind: 'request',
    tag: str(list(value['tags'])[0]) || NO_TAG,
    summary: str(value['summary']) || `${method.toUpperCase()} ${path}`,
    description: str(value['description']),
    scope: readScope(value),
    isPublic: Array.isArray(value['security']) && value['security'].length === 0,
    deprecated: value['deprecated'] === true,
    parameters,
    body:
      content.length === 0
        ? undefined
        : { required: body['required'] === true, description: str(body['description']), content },
    answers: Object.entries(obj(value['responses'])).map(([status, answer]) =>
      readAnswer(document, status, answer),
    ),
  }
}

function readScope(operation: Obj): string | undefined {
  const named = str(operation['x-required-scope'])
  if (named !== '') return named
  const scopes = list(operation['security']).flatMap((entry) =>
    Object.values(obj(entry)).flatMap(list).map(str),
  )
  return scopes.find((scope) => scope !== '')
}

function readParameter(document: Obj, value: Json): Parameter {
  const parameter = resolve(document, value)
  const place = str(parameter['in'])
  const schema = resolve(document, parameter['schema'])
  return {
    name: str(parameter['name']),
    place: place === 'path' || place === 'header' || place === 'cookie' ? place : 'query',
    required: parameter['required'] === true || place === 'path',
    description: str(parameter['description']) || str(schema['description']),
    schema,
  }
}

function holdsFile(schema: Obj): boolean {
  return Object.values(obj(schema['properties']))
    .flatMap((member) => [obj(member), obj(obj(member)['items']), ...list(obj(member)['anyOf']).map(obj)])
    .some((member) => member['format'] === 'binary' || obj(member['items'])['format'] === 'binary')
}

/** Elysia offers every body as JSON and as form data; only the form that can carry it says anything. */
function readContent(document: Obj, holder: Obj): Content[] {
  const entries = Object.entries(obj(holder['content']))
  const isJson = (type: string) => /[/+]json/.test(type)
  const schemaOf = (media: Json) => JSON.stringify(obj(media)['schema'] ?? null)
  const files = entries.some(([, media]) => holdsFile(resolve(document, obj(media)['schema'])))
  const json = entries.find(([type]) => isJson(type))
  const kept = entries.filter(([type, media]) =>
    files
      ? !isJson(type) && !/urlencoded|text\/plain/.test(type)
      : isJson(type) || json === undefined || schemaOf(media) !== schemaOf(json[1]),
  )
  return kept.map(([type, value]) => {
    const media = obj(value)
    const named = obj(Object.values(obj(media['examples']))[0])['value']
    const example = media['example'] ?? named
    return {
      type,
      schema: resolve(document, media['schema']),
      example:
        example === undefined
          ? undefined
          : typeof example === 'string'
            ? example
            : JSON.stringify(example, undefined, 2),
    }
  })
}

function readAnswer(document: Obj, status: string, value: Json): Answer {
  const answer = resolve(document, value)
  return {
    status,
    description: str(answer['description']),
    headers: Object.entries(obj(answer['headers'])).map(([name, header]) => ({
      name,
      description: str(resolve(document, header)['description']),
    })),
    content: readContent(document, answer),
  }
}

/** Operations whose method, path, summary, tag, description or scope hold every word of the search. */
export function searchGroups(groups: Group[], text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return groups
  const hit = (operation: Operation): boolean => {
    const { method, path, summary, tag, description, scope } = operation
    const hay = `${method} ${path} ${summary} ${tag} ${description} ${scope ?? ''}`.toLowerCase()
    return words.every((word) => hay.includes(word))
  }
  return groups
    .map((group) => ({ ...group, operations: group.operations.filter(hit) }))
    .filter((group) => group.operations.length > 0)
}
