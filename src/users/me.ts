/** What a signed-in person can see and change of themselves: profile, password, second factor. */
import type { Db } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import type { Keyring } from '../lib/crypto.ts'
import { invalid, problem } from '../lib/errors.ts'
import type { Principal } from '../lib/principal.ts'
import { checkPassword, type Passwords } from './passwords.ts'
import type { MeDto } from './schema.ts'
import type { UserRow, UserStore } from './store.ts'
import { checkTotp, newRecoveryCodes, newTotp, recoveryHash } from './totp.ts'

export type MeService = ReturnType<typeof createMe>

export function createMe(deps: {
  db: Db
  store: UserStore
  clock: Clock
  keyring: Keyring
  passwords: Passwords
}) {
  const { db, store, clock, keyring, passwords } = deps

  const self = async (principal: Principal): Promise<UserRow> => {
    const row = principal.user === null ? undefined : await store.byId(principal.user.id)
    if (row === undefined) throw problem('conflict', 'This is for people, not for API keys.')
    return row
  }
  const proven = async (principal: Principal, pointer: string, password: string): Promise<UserRow> => {
    const row = await self(principal)
    if (await passwords.verify(password, row.password_hash)) return row
    throw invalid(pointer, 'wrong_password', 'The password is not right.')
  }
  const withNewCodes = (user_id: string) => {
    const codes = newRecoveryCodes()
    const writes = [
      store.deleteRecoveryCodes(user_id),
      store.insertRecoveryCodes(user_id, codes.map(recoveryHash)),
    ]
    return { codes, writes }
  }

  const show = async (principal: Principal): Promise<MeDto> => {
    const { user, key, tenant } = principal
    const row = user === null ? undefined : await store.byId(user.id)
    return {
      kind: principal.kind,
      user:
        row === undefined
          ? null
          : {
              id: row.id,
              name: row.name,
              email: row.email,
              is_operator: row.is_operator === 1,
              totp_enabled: row.totp_secret !== null,
              recovery_codes_left: await store.recoveryCodesLeft(row.id),
            },
      key,
      tenant,
      role: principal.role,
      scopes: [...principal.scopes],
      memberships: row === undefined ? [] : await store.memberships(row.id),
      session_id: principal.session_id,
    }
  }

  return {
    show,

    async rename(principal: Principal, name: string): Promise<MeDto> {
      const row = await self(principal)
      await db.commit(principal.actor, {
        writes: [store.updateUser(row.id, { name: name.trim() }, clock.now())],
        audit: { action: 'me.update', target: { type: 'user', id: row.id }, personal: { name: name.trim() } },
      })
      return show(principal)
    },

    /** All other sessions end. */
    async changePassword(principal: Principal, current: string, next: string): Promise<void> {
      const row = await proven(principal, '/current_password', current)
      checkPassword('/new_password', next, row.email)
      const password_hash = await passwords.hash(next)
      const now = clock.now()
      await db.commit(principal.actor, {
        writes: [
          store.updateUser(row.id, { password_hash }, now),
          store.deleteSessionsOf(row.id, principal.session_id),
          store.closeResetLinks(row.id, now),
        ],
        audit: { action: 'me.password', target: { type: 'user', id: row.id } },
      })
    },

    /** Begins: a secret that counts only once it was confirmed with a code. */
    async beginTotp(principal: Principal, password: string) {
      const row = await proven(principal, '/password', password)
      if (row.totp_secret !== null) throw problem('conflict', 'The second factor is on already.')
      const totp = newTotp(row.email)
      await db.commit(principal.actor, {
        writes: [store.updateUser(row.id, { totp_pending: keyring.seal(totp.secret) }, clock.now())],
        audit: { action: 'me.totp_setup', target: { type: 'user', id: row.id } },
      })
      return totp
    },

    async confirmTotp(principal: Principal, code: string): Promise<{ recovery_codes: string[] }> {
      const row = await self(principal)
      const secret = row.totp_pending === null ? null : keyring.open(row.totp_pending)
      if (secret === null) throw problem('conflict', 'Begin with POST /v1/me/totp.')
      const now = clock.now()
      const step = checkTotp(secret, code, now, 0)
      if (step === null)
        throw invalid('/code', 'wrong_code', 'The code is not right. Is the clock of the phone?')
      const { codes, writes } = withNewCodes(row.id)
      const totp = { totp_secret: keyring.seal(secret), totp_pending: null, totp_last_step: step }
      await db.commit(principal.actor, {
        writes: [store.updateUser(row.id, totp, now), ...writes],
        audit: { action: 'me.totp_enable', target: { type: 'user', id: row.id } },
      })
      return { recovery_codes: codes }
    },

    async disableTotp(principal: Principal, password: string): Promise<void> {
      const row = await proven(principal, '/password', password)
      await db.commit(principal.actor, {
        writes: [
          store.updateUser(row.id, { totp_secret: null, totp_pending: null }, clock.now()),
          store.deleteRecoveryCodes(row.id),
        ],
        audit: { action: 'me.totp_disable', target: { type: 'user', id: row.id } },
      })
    },

    /** Ten new recovery codes; the old ones end. */
    async renewCodes(principal: Principal, password: string): Promise<{ recovery_codes: string[] }> {
      const row = await proven(principal, '/password', password)
      if (row.totp_secret === null) throw problem('conflict', 'Turn the second factor on first.')
      const { codes, writes } = withNewCodes(row.id)
      await db.commit(principal.actor, {
        writes,
        audit: { action: 'me.recovery_codes', target: { type: 'user', id: row.id } },
      })
      return { recovery_codes: codes }
    },
  }
}
