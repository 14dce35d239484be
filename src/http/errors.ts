/**
 * Everything that is thrown becomes `application/problem+json` (RFC 9457). Text of unexpected errors never leaves
 * the process: it is logged under the request id, the client reads "internal".
 */
import type { Log } from '../lib/log.ts'
import { PROBLEMS, Problem, type ProblemItem, problem } from '../lib/errors.ts'

export interface ProblemDocument {
  type: string
  title: string
  status: number
  code: string
  detail: string
  instance: string
  request_id: string
  errors?: ProblemItem[]
  [extra: string]: unknown
}

/** The problem as a response. `headers` are those already collected for the request. */
export function problemResponse(
  error: Problem,
  request_id: string,
  path: string,
  headers: Record<string, string>,
): Response {
  const document: ProblemDocument = {
    type: `/docs#error-${error.code}`,
    title: PROBLEMS[error.code].title,
    status: error.status,
    code: error.code,
    detail: error.detail,
    instance: path,
    request_id,
    ...error.options.extra,
  }
  if (error.options.errors !== undefined) document.errors = error.options.errors
  return new Response(JSON.stringify(document), {
    status: error.status,
    headers: { ...headers, ...error.options.headers, 'content-type': 'application/problem+json' },
  })
}

/**
 * Translates what Elysia and our own code throw. `code` is Elysia's name of the error.
 * Anything unknown is logged whole and becomes a plain 500.
 */
export function toProblem(code: string | number, error: unknown, log: Log, request_id: string): Problem {
  if (error instanceof Problem) return error
  if (code === 'VALIDATION') {
    const failure = error as ValidationFailure
    if (failure.type === 'response') {
      log.error('response does not match its schema', { request_id, error })
      return problem('internal')
    }
    return problem('validation_failed', undefined, { errors: validationItems(failure) })
  }
  if (code === 'PARSE') return problem('invalid_json', 'The body could not be read as JSON.')
  if (code === 'NOT_FOUND') return problem('not_found', 'There is nothing at this path.')
  if (code === 'INVALID_COOKIE_SIGNATURE') return problem('unauthenticated')
  if (isConflict(error)) return problem('conflict', `The change was refused: ${error.label}.`)
  log.error('unexpected error', { request_id, error })
  return problem('internal', 'The error was logged under the request id.')
}

interface ValidationFailure {
  type: string
  all: { path?: string; summary?: string; message?: string; schema?: { 'x-code'?: string } }[]
}

function validationItems(failure: ValidationFailure): ProblemItem[] {
  const in_query = failure.type === 'query'
  return failure.all.slice(0, 20).map((each) => {
    const path = each.path ?? ''
    const detail = each.summary ?? each.message ?? 'is not valid'
    const code = each.schema?.['x-code'] ?? 'invalid_value'
    if (in_query) return { parameter: path.replace(/^\//, ''), code, detail }
    return { pointer: path, code, detail }
  })
}

function isConflict(error: unknown): error is Error & { label: string } {
  return error instanceof Error && error.name === 'Conflict' && 'label' in error
}
