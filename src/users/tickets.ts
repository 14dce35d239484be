/**
 * The ticket between password and second factor: who gave the right password, until when, signed. It is no session
 * and opens nothing but `/auth/totp`.
 */
import { equalBytes, hmacSha256 } from '../lib/crypto.ts'
import { LOGIN_TICKET_TTL_MS } from '../lib/limits.ts'

export interface Tickets {
  issue(user_id: string, now: number): string
  /** The user, or null when the ticket is forged or over. */
  read(ticket: string, now: number): string | null
}

export function createTickets(key: Uint8Array): Tickets {
  const sign = (body: string): string => hmacSha256(key, body).toString('base64url')
  return {
    issue(user_id, now) {
      const body = `${user_id}.${now + LOGIN_TICKET_TTL_MS}`
      return `${body}.${sign(body)}`
    },
    read(ticket, now) {
      const [user_id, until, mac] = ticket.split('.')
      if (user_id === undefined || until === undefined || mac === undefined) return null
      if (!equalBytes(Buffer.from(sign(`${user_id}.${until}`)), Buffer.from(mac))) return null
      return Number(until) > now ? user_id : null
    },
  }
}
