import { Elysia } from 'elysia'
import { checkOrigin, SECURE_SESSION_COOKIE, SESSION_COOKIE, sessionCookie } from '../http/auth.ts'
import { stateOf } from '../http/request.ts'
import { op } from '../http/schema.ts'
import { SESSION_ABSOLUTE_MS } from '../lib/limits.ts'
import {
  AcceptBody,
  AuthState,
  LinkBody,
  LinkInfo,
  LoginBody,
  ResetBody,
  SetupAnswer,
  SetupBody,
  SignedIn,
  TotpBody,
} from './schema.ts'
import type { LoginService, SignedIn as SignedInResult } from './login.ts'
import type { ClientInfo, SessionService } from './sessions.ts'
import type { SetupInput } from './schema.ts'

interface Setup {
  isSetUp(): boolean
  complete(
    input: SetupInput,
    client: ClientInfo,
  ): Promise<{
    user: { id: string; name: string; email: string }
    tenant: { id: string; name: string }
    cookie: string
  }>
}

interface Deps {
  login: LoginService
  sessions: SessionService
  setup: Setup
  version: string
  baseUrl(): string
  base_origin: string | null
  isSetUp(): boolean
}

function clientOf(request: Request): ClientInfo {
  const state = stateOf(request)
  return { ip: state.ip, user_agent: request.headers.get('user-agent'), request_id: state.id }
}

function cookieHeader(request: Request, value: string | null): string {
  const { secure } = stateOf(request)
  const name = secure ? SECURE_SESSION_COOKIE : SESSION_COOKIE
  const age = value === null ? 0 : SESSION_ABSOLUTE_MS / 1000
  return `${name}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure ? '; Secure' : ''}`
}

/** Sets the cookie of a finished sign-in; the answer itself never holds it. */
function answer(request: Request, headers: Record<string, string | number>, result: SignedInResult) {
  if (result.status === 'totp_required') return result
  headers['set-cookie'] = cookieHeader(request, result.cookie)
  return { status: result.status }
}

const signed_in = { 200: { schema: SignedIn } }
const FAILS = ['invalid_credentials', 'login_throttled', 'csrf_rejected']

/** `/setup` and `/auth/…`: for browsers, outside /v1. */
export const authRoutes = (deps: Deps) =>
  new Elysia({ name: 'auth', tags: ['Sign-in'], normalize: false })
    .onTransform(({ request }) => {
      if (request.method !== 'GET') checkOrigin(request, deps.base_origin, true)
    })
    .get(
      '/auth/state',
      async ({ request }) => {
        const state = stateOf(request)
        const cookie = sessionCookie(request.headers.get('cookie'), state.secure)
        const found = cookie === null ? null : await deps.sessions.authenticate(cookie, state)
        return {
          setup_required: !deps.isSetUp(),
          authenticated: found !== null && 'scopes' in found,
          version: deps.version,
          base_url: deps.baseUrl(),
        }
      },
      op('public', {
        summary: 'Whether Wardpost is set up and this browser signed in',
        answers: { 200: { schema: AuthState } },
      }),
    )
    .post(
      '/setup',
      async ({ request, body, set }) => {
        const { cookie, ...done } = await deps.setup.complete(body, clientOf(request))
        set.headers['set-cookie'] = cookieHeader(request, cookie)
        set.status = 201
        return done
      },
      {
        parse: 'json',
        body: SetupBody,
        ...op('public', {
          summary: 'Own a new installation, with the token of its setup link',
          answers: { 201: { schema: SetupAnswer, headers: ['Set-Cookie'] } },
          problems: ['invalid_credentials', 'gone', 'csrf_rejected'],
        }),
      },
    )
    .post(
      '/auth/login',
      async ({ request, body, set }) =>
        answer(
          request,
          set.headers as never,
          await deps.login.login(body.email, body.password, clientOf(request)),
        ),
      {
        parse: 'json',
        body: LoginBody,
        ...op('public', { summary: 'Sign in', answers: signed_in, problems: FAILS }),
      },
    )
    .post(
      '/auth/totp',
      async ({ request, body, set }) =>
        answer(
          request,
          set.headers as never,
          await deps.login.totp(body.ticket, body.code, clientOf(request)),
        ),
      {
        parse: 'json',
        body: TotpBody,
        ...op('public', {
          summary: 'Give the second factor: six digits or a recovery code',
          answers: signed_in,
          problems: FAILS,
        }),
      },
    )
    .post(
      '/auth/logout',
      async ({ request, set }) => {
        const cookie = sessionCookie(request.headers.get('cookie'), stateOf(request).secure)
        if (cookie !== null) await deps.login.logout(cookie, clientOf(request))
        set.headers['set-cookie'] = cookieHeader(request, null)
        set.status = 204
      },
      op('public', {
        summary: 'Sign out',
        answers: { 204: { description: 'Signed out.' } },
        problems: ['csrf_rejected'],
      }),
    )
    .post('/auth/link', ({ request, body }) => deps.login.inspect(body.token, clientOf(request)), {
      parse: 'json',
      body: LinkBody,
      ...op('public', {
        summary: 'What an invitation or reset link is for',
        answers: { 200: { schema: LinkInfo } },
        problems: ['gone', 'not_found', 'login_throttled', 'csrf_rejected'],
      }),
    })
    .post(
      '/auth/accept',
      async ({ request, body, set }) =>
        answer(request, set.headers as never, await deps.login.accept(body as never, clientOf(request))),
      {
        parse: 'json',
        body: AcceptBody,
        ...op('public', {
          summary: 'Accept an invitation',
          description: 'Who has an account here gives its password; who has none sets name and password.',
          answers: signed_in,
          problems: ['gone', 'not_found', 'conflict', ...FAILS],
        }),
      },
    )
    .post(
      '/auth/reset',
      async ({ request, body, set }) =>
        answer(
          request,
          set.headers as never,
          await deps.login.reset(body.token, body.password, clientOf(request)),
        ),
      {
        parse: 'json',
        body: ResetBody,
        ...op('public', {
          summary: 'Set a new password with a reset link',
          description: 'All other sessions of the user end.',
          answers: signed_in,
          problems: ['gone', 'not_found', 'conflict', ...FAILS],
        }),
      },
    )
