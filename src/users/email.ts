import { invalid } from '../lib/errors.ts'

const ADDRESS = /^[^\s@"(),:;<>[\\\]]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

/** The address in the one form in which users are found: trimmed, lower case, NFC. Throws 422 when it is none. */
export function checkEmail(pointer: string, text: string): string {
  const email = text.trim().normalize('NFC').toLowerCase()
  if (email.length > 254 || !ADDRESS.test(email) || email.includes('..')) {
    throw invalid(pointer, 'invalid_email', `"${text.slice(0, 80)}" is not an e-mail address.`)
  }
  return email
}
