/**
 * The OpenAPI 3.1 document, made from the routes themselves: what `op` put on a route, its schemas, and what every
 * route of its kind can answer. Nothing is written twice, so nothing can be forgotten.
 */
import type { TSchema } from '@sinclair/typebox'
import { PROBLEMS, type ProblemCode } from '../lib/errors.ts'
import { SCOPES } from '../lib/principal.ts'
import type { Answer, Operation } from './schema.ts'
import { openApiEvents } from './openapi-events.ts'
import { HEADERS, INFO, PROBLEM_SCHEMA, RATE_LIMITS, TAGS } from './openapi-texts.ts'

export interface RouteLike {
  method: string
  path: string
  hooks: unknown
}

type Json = Record<string, unknown>

interface Hooks {
  detail?: Json & {
    'x-operation'?: Operation
    'x-can'?: string
    tags?: string[]
    summary?: string
    hide?: boolean
  }
  body?: TSchema
  query?: TSchema
  params?: TSchema
}

export interface DocumentedRoute {
  method: string
  /** With `{name}` parameters. */
  path: string
  can: string
  hooks: Hooks
  operation: Operation
}

/** The routes that `op` documents, in the order in which they were added. */
export function documentedRoutes(routes: readonly RouteLike[]): DocumentedRoute[] {
  return routes.flatMap((route) => {
    const hooks = route.hooks as Hooks
    const operation = hooks.detail?.['x-operation']
    const can = hooks.detail?.['x-can']
    if (operation === undefined || can === undefined) return []
    return [{ method: route.method, path: route.path.replace(/:(\w+)/g, '{$1}'), can, hooks, operation }]
  })
}

/** The whole document. `server_url` is where this installation is reached. */
export function openApiDocument(
  routes: readonly RouteLike[],
  about: { version: string; server_url: string },
): Json {
  const components: Record<string, unknown> = { Problem: PROBLEM_SCHEMA }
  const paths: Record<string, Json> = {}
  const tags = new Set<string>()
  for (const route of documentedRoutes(routes)) {
    const at = (paths[route.path] ??= {})
    for (const tag of route.hooks.detail?.tags ?? []) tags.add(tag)
    at[route.method.toLowerCase()] = operationOf(route, components)
  }
  return {
    openapi: '3.1.0',
    info: { ...INFO, version: about.version },
    servers: [{ url: about.server_url, description: 'This installation.' }],
    tags: [...tags, 'Events'].map((name) => ({ name, description: TAGS[name] ?? name })),
    security: [{ apiKey: [] }],
    paths,
    webhooks: openApiEvents(),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `wdp_` and 59 characters.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sid',
          description: 'The session of a signed-in browser (`__Host-sid` over TLS).',
        },
      },
      headers: HEADERS,
      schemas: components,
    },
    'x-errors': Object.entries(PROBLEMS).map(([code, { status, title }]) => ({ code, status, title })),
    'x-rate-limits': RATE_LIMITS,
    'x-scopes': Object.entries(SCOPES).map(([scope, description]) => ({ scope, description })),
  }
}

/** Every status that a route is documented to answer. */
export function documentedStatuses(route: DocumentedRoute): Set<number> {
  const own = Object.keys(route.operation.answers).map(Number)
  return new Set([...own, ...problemsOf(route).map((code) => PROBLEMS[code].status)])
}

function operationOf(route: DocumentedRoute, components: Record<string, unknown>): Json {
  const { hooks, operation, can } = route
  const is_public = can === 'public'
  const body = requestBody(route, components)
  const parameters = [
    ...parametersOf(hooks.params, 'path'),
    ...parametersOf(hooks.query, 'query'),
    ...headerParameters(route),
  ]
  return {
    operationId: operationId(route),
    tags: hooks.detail?.tags ?? [],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(is_public ? { security: [] } : { security: [{ apiKey: [] }, { session: [] }] }),
    ...(can.includes(':') ? { 'x-required-scope': can } : {}),
    'x-access': is_public ? 'Anybody' : can === 'member' ? 'Any valid credential' : `Scope ${can}`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesOf(route, components),
  }
}

function operationId({ method, path }: DocumentedRoute): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1')
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return `${method.toLowerCase()}${name}`
}

function requestBody(route: DocumentedRoute, components: Record<string, unknown>): Json | null {
  if (route.operation.request_body !== undefined) return route.operation.request_body as Json
  if (route.hooks.body === undefined) return null
  const content: Json = { schema: schemaOf(route.hooks.body, components) }
  if (route.operation.body_example !== undefined) content['example'] = route.operation.body_example
  return { required: true, content: { 'application/json': content } }
}

function parametersOf(schema: TSchema | undefined, place: 'path' | 'query'): Json[] {
  const properties = (schema?.['properties'] ?? {}) as Record<string, TSchema>
  const required = new Set((schema?.['required'] ?? []) as string[])
  return Object.entries(properties).map(([name, property]) => {
    const plain = schemaOf(property, {}) as Json
    const { description, ...rest } = plain
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function headerParameters(route: DocumentedRoute): Json[] {
  const out: Json[] = []
  const text = { type: 'string', maxLength: 255 }
  if (route.method === 'POST' && route.can !== 'public' && route.operation.no_idempotency !== true) {
    out.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'The same key with the same request is done once; its answer is replayed for 24 hours.',
      schema: { ...text, pattern: '^[\\x21-\\x7e]{1,255}$' },
    })
  }
  if (route.method === 'PATCH' && (route.operation.problems ?? []).includes('version_conflict')) {
    out.push({
      name: 'If-Match',
      in: 'header',
      required: false,
      description: 'The ETag of the version that is to be changed.',
      schema: { type: 'string', examples: ['"v3"'] },
    })
  }
  return out
}

/** What any route of this kind can answer besides its own answers. */
function problemsOf(route: DocumentedRoute): ProblemCode[] {
  const { method, can, hooks, operation } = route
  const codes: ProblemCode[] = ['internal']
  const writes = method !== 'GET'
  const has_body = hooks.body !== undefined || operation.request_body !== undefined
  if (can !== 'public') codes.push('unauthenticated', 'ip_not_allowed', 'rate_limited', 'setup_required')
  if (can.includes(':')) codes.push('insufficient_scope')
  if (hooks.params !== undefined) codes.push('not_found')
  if (hooks.query !== undefined || hooks.params !== undefined || hooks.body !== undefined)
    codes.push('validation_failed')
  if (hooks.query?.['properties']?.['cursor'] !== undefined) codes.push('invalid_cursor')
  if (has_body) codes.push('invalid_json', 'payload_too_large', 'unsupported_media_type')
  if (writes) codes.push('storage_full')
  if (method === 'POST' && can !== 'public' && operation.no_idempotency !== true) {
    codes.push('idempotency_in_progress', 'idempotency_key_reused', 'outcome_unknown')
  }
  if (writes && can !== 'public') codes.push('csrf_rejected')
  return codes.concat((operation.problems ?? []) as ProblemCode[])
}

function responsesOf(route: DocumentedRoute, components: Record<string, unknown>): Json {
  const responses: Json = {}
  for (const [status, answer] of Object.entries(route.operation.answers)) {
    responses[status] = answerOf(answer, route, components)
  }
  const by_status = new Map<number, Set<ProblemCode>>()
  for (const code of problemsOf(route)) {
    const { status } = PROBLEMS[code]
    by_status.set(status, (by_status.get(status) ?? new Set()).add(code))
  }
  // Answered by the server before there is a request: without a body.
  if (route.hooks.query !== undefined) {
    responses['431'] = { description: 'The address and the headers together are too long.' }
  }
  for (const [status, codes] of [...by_status].sort(([a], [b]) => a - b)) {
    if (responses[status] === undefined) responses[status] = problemAnswer(status, [...codes])
  }
  return responses
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

function answerOf(answer: Answer, route: DocumentedRoute, components: Record<string, unknown>): Json {
  const own = 'headers' in answer ? (answer.headers ?? []) : []
  const limits = route.can === 'public' ? [] : LIMIT_HEADERS
  const headers = headerRefs(['X-Request-Id', ...limits, ...own])
  if ('content' in answer) {
    const content = Object.entries(answer.content).map(([type, { schema, example }]) => [
      type,
      { schema: schemaOf(schema, components), ...(example === undefined ? {} : { example }) },
    ])
    return { description: answer.description, headers, content: Object.fromEntries(content) as Json }
  }
  if (!('schema' in answer)) return { description: answer.description, headers }
  return {
    description: answer.description ?? 'Done.',
    headers,
    content: {
      'application/json': {
        schema: schemaOf(answer.schema, components),
        ...(answer.example === undefined ? {} : { example: answer.example }),
      },
    },
  }
}

function problemAnswer(status: number, codes: readonly ProblemCode[]): Json {
  const names =
    status === 429 ? ['X-Request-Id', ...LIMIT_HEADERS, 'Retry-After', 'X-RateLimit-Scope'] : ['X-Request-Id']
  const first = codes[0]!
  return {
    description: codes.map((code) => `\`${code}\` ${PROBLEMS[code].title}.`).join(' '),
    headers: headerRefs(names),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        example: {
          type: `/docs#error-${first}`,
          title: PROBLEMS[first].title,
          status,
          code: first,
          detail: PROBLEMS[first].title,
          instance: '/v1/…',
          request_id: 'req_01k3v8q2m7x0c9tbe4h6ynp5rz',
        },
      },
    },
  }
}

/** A schema as OpenAPI shows it: titled objects become components, query texts show what they stand for. */
function schemaOf(schema: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((each) => schemaOf(each, components))
  if (schema === null || typeof schema !== 'object') return schema
  const { title, 'x-openapi': shown, ...rest } = schema as Json
  if (shown !== undefined) {
    const { maxLength: _, ...kept } = rest
    return { ...kept, ...(shown as Json) }
  }
  const words = literalsOf(rest['anyOf'])
  if (words !== null) {
    const { anyOf: _, ...kept } = rest
    return { type: 'string', enum: words, ...kept }
  }
  const plain = Object.fromEntries(
    Object.entries(rest)
      .filter(([name]) => !name.startsWith('x-'))
      .map(([name, value]) => [
        name,
        // Under `properties` the names are the author's, not JSON Schema's.
        name === 'properties' ? eachOf(value as Json, components) : schemaOf(value, components),
      ]),
  )
  if (typeof title !== 'string') return plain
  components[title] ??= plain
  return { $ref: `#/components/schemas/${title}` }
}

/** The strings of a union that is made of strings only. */
function literalsOf(union: unknown): string[] | null {
  if (!Array.isArray(union) || union.length === 0) return null
  const words = union.map((each: Json) => each['const'])
  return words.every((word) => typeof word === 'string') ? words : null
}

function eachOf(properties: Json, components: Record<string, unknown>): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, schemaOf(value, components)]),
  )
}
