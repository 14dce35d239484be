import { t } from 'elysia'
import { Body, Int, IsoTime, Literals, Nullable, PageQuery, QueryText } from '../http/schema.ts'
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../lib/limits.ts'
import { Limits } from '../tenants/schema.ts'

const ROLES = ['owner', 'admin', 'analyst', 'viewer'] as const
const PersonName = t.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['Mara Lindqvist'] })
const Email = t.String({ minLength: 3, maxLength: 254, examples: ['mara@northlight.example'] })
const Token = t.String({ minLength: 20, maxLength: 100 })
/** Length and strength of new passwords are checked by the service, which says what is wrong. */
const Password = t.String({
  minLength: 1,
  maxLength: 1000,
  description: `${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters.`,
})

// --- /setup and /auth ---------------------------------------------------------------------------------------------
export const SetupBody = Body({
  token: Token,
  name: PersonName,
  email: Email,
  password: Password,
  organisation: t.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['Northlight Labs'] }),
})
export type SetupInput = typeof SetupBody.static
export const SetupAnswer = t.Object({
  user: t.Object({ id: t.String(), name: t.String(), email: t.String() }),
  tenant: t.Object({ id: t.String(), name: t.String() }),
})
export const AuthState = t.Object({
  setup_required: t.Boolean(),
  authenticated: t.Boolean(),
  version: t.String(),
  base_url: t.String(),
})
export const LoginBody = Body({ email: Email, password: t.String({ minLength: 1, maxLength: 1000 }) })
export const TotpBody = Body({ ticket: t.String({ maxLength: 1000 }), code: t.String({ maxLength: 40 }) })
export const LinkBody = Body({ token: Token })
export const AcceptBody = Body({ token: Token, name: t.Optional(PersonName), password: Password })
export const ResetBody = Body({ token: Token, password: Password })
export const SignedIn = t.Object({
  status: Literals(['ok', 'totp_required']),
  ticket: t.Optional(t.String({ description: 'For /auth/totp; five minutes.' })),
})
export const LinkInfo = t.Object({
  kind: Literals(['invite', 'reset']),
  email: t.String(),
  name: Nullable(t.String()),
  has_account: t.Boolean(),
  organisation: Nullable(t.String()),
  role: Nullable(Literals(ROLES)),
  expires_at: IsoTime,
})

// --- /v1/me -------------------------------------------------------------------------------------------------------
export const Me = t.Object(
  {
    kind: Literals(['session', 'key']),
    user: Nullable(
      t.Object({
        id: t.String(),
        name: t.String(),
        email: t.String(),
        is_operator: t.Boolean(),
        totp_enabled: t.Boolean(),
        recovery_codes_left: Int(),
      }),
    ),
    key: Nullable(t.Object({ id: t.String(), name: t.String() })),
    tenant: t.Object({
      id: t.String(),
      name: t.String(),
      plan: Literals(['free', 'pro', 'enterprise']),
      status: Literals(['active', 'suspended']),
      limits: Limits,
    }),
    role: Nullable(Literals(ROLES)),
    scopes: t.Array(t.String()),
    memberships: t.Array(t.Object({ tenant_id: t.String(), tenant_name: t.String(), role: Literals(ROLES) })),
    session_id: Nullable(t.String()),
  },
  { title: 'Me' },
)
export type MeDto = typeof Me.static
export const MeUpdate = Body({ name: PersonName })
export const PasswordChange = Body({ current_password: Password, new_password: Password })
export const PasswordProof = Body({ password: Password })
export const TotpSetup = t.Object({ secret: t.String(), otpauth_url: t.String() })
export const TotpConfirm = Body({ code: t.String({ maxLength: 20, examples: ['123456'] }) })
export const RecoveryCodes = t.Object({ recovery_codes: t.Array(t.String()) })
export const TenantSwitch = Body({ tenant_id: t.String({ maxLength: 64 }) })

export const Session = t.Object(
  {
    id: t.String(),
    current: t.Boolean(),
    user_id: t.String(),
    user_name: t.String(),
    user_email: t.String(),
    created_at: IsoTime,
    last_seen_at: IsoTime,
    expires_at: IsoTime,
    ip: Nullable(t.String()),
    user_agent: Nullable(t.String()),
  },
  { title: 'Session' },
)
export type SessionDto = typeof Session.static
export const SessionListQuery = t.Object(PageQuery)

// --- /v1/settings/users, /v1/settings/invites, /v1/instance/users --------------------------------------------------
export const Member = t.Object(
  {
    id: t.String(),
    name: t.String(),
    email: t.String(),
    role: Literals(ROLES),
    is_operator: t.Boolean(),
    totp_enabled: t.Boolean(),
    status: Literals(['active']),
    last_login_at: Nullable(IsoTime),
    created_at: IsoTime,
  },
  { title: 'Member' },
)
export type MemberDto = typeof Member.static
export const MemberListQuery = t.Object({ ...PageQuery, q: QueryText('Text in name or e-mail.') })
export const RoleChange = Body({ role: Literals(ROLES) })
export const LinkAnswer = t.Object({
  link: t.String({ description: 'Shown this once. Whoever has it can use it.' }),
  expires_at: IsoTime,
})

export const Invite = t.Object(
  {
    id: t.String(),
    email: t.String(),
    role: Literals(ROLES),
    created_by: Nullable(t.Object({ id: t.String(), name: Nullable(t.String()) })),
    created_at: IsoTime,
    expires_at: IsoTime,
  },
  { title: 'Invite' },
)
export type InviteDto = typeof Invite.static
export const NewInvite = t.Intersect([Invite, t.Object({ link: t.String() })], { title: 'NewInvite' })
export const InviteCreate = Body({ email: Email, role: Literals(ROLES) })

export const InstanceUser = t.Object(
  {
    id: t.String(),
    name: t.String(),
    email: t.String(),
    is_operator: t.Boolean(),
    totp_enabled: t.Boolean(),
    memberships: t.Array(t.Object({ tenant_id: t.String(), tenant_name: t.String(), role: Literals(ROLES) })),
    created_at: IsoTime,
    last_login_at: Nullable(IsoTime),
  },
  { title: 'InstanceUser' },
)
export type InstanceUserDto = typeof InstanceUser.static
export const OperatorChange = Body({ is_operator: t.Boolean() })
