/**
 * Passwords: argon2id (19 MiB, 2 passes, OWASP's first choice), a few at a time so that a flood of logins cannot fill
 * the memory. Text is compared in NFKC, so the same keys on two machines are the same password.
 */
import { invalid, problem } from '../lib/errors.ts'
import {
  PASSWORD_CHARS_MAX,
  PASSWORD_CHARS_MIN,
  PASSWORD_HASHES_AT_ONCE_MAX,
  PASSWORD_HASHES_WAITING_MAX,
} from '../lib/limits.ts'

const ARGON = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes the same time whether or not there is a hash: an unknown address looks like a wrong password. */
  verify(password: string, hash: string | null): Promise<boolean>
}

export function createPasswords(): Passwords {
  let running = 0
  const waiting: (() => void)[] = []
  let decoy: string | null = null

  const limited = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= PASSWORD_HASHES_AT_ONCE_MAX) {
      if (waiting.length >= PASSWORD_HASHES_WAITING_MAX) {
        throw problem('overloaded', 'Too many sign-ins at once.', { headers: { 'retry-after': '1' } })
      }
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }

  return {
    hash: (password) => limited(() => Bun.password.hash(password.normalize('NFKC'), ARGON)),
    async verify(password, hash) {
      decoy ??= await Bun.password.hash('no such user', ARGON)
      const given = password.slice(0, PASSWORD_CHARS_MAX * 2).normalize('NFKC')
      const right = await limited(() => Bun.password.verify(given, hash ?? decoy!))
      return right && hash !== null
    },
  }
}

/** What long passwords are most often made of; any of them with digits around it is guessed first. */
const COMMON =
  /^(?:[\d\W_]*(?:password|passwort|passw0rd|qwerty|qwertz|azerty|letmein|welcome|willkommen|changeme|iloveyou|administrator|wardpost|geheim|secret|sommer|summer|winter|dragon|monkey|football|1q2w3e4r|abcdef|abc123)[\d\W_]*)+$/i

/** Throws 422 for a password that is too short, too long or among the first that anybody would try. */
export function checkPassword(pointer: string, password: string, email: string): void {
  const length = [...password].length
  if (length < PASSWORD_CHARS_MIN || length > PASSWORD_CHARS_MAX) {
    const rule = `A password has ${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters.`
    throw invalid(pointer, 'password_length', rule)
  }
  const local = email.split('@')[0]!.toLowerCase()
  const own_name =
    local.length >= 4 && password.toLowerCase().replace(/[\d\W_]/g, '') === local.replace(/[\d\W_]/g, '')
  if (COMMON.test(password) || own_name || isRun(password)) {
    throw invalid(pointer, 'password_common', 'This password is among the first that are guessed.')
  }
}

/** One character or one step repeated: `aaaaaaaaaaaa`, `123456789012`, `abcabcabcabc`. */
function isRun(password: string): boolean {
  if (/^(.{1,4})\1+.{0,3}$/u.test(password)) return true
  let steps = 0
  for (let i = 1; i < password.length; i++) {
    const step = password.charCodeAt(i) - password.charCodeAt(i - 1)
    if (step === 1 || step === -1 || step === -9 || step === 9) steps++
  }
  return steps >= password.length - 2
}
