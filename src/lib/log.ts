/**
 * One JSON object a line on standard error. Values under names that look like secrets are never written.
 */
import type { Clock } from './clock.ts'
import { isoTime } from './clock.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Record<string, unknown>

export interface Log {
  debug(msg: string, fields?: LogFields): void
  info(msg: string, fields?: LogFields): void
  warn(msg: string, fields?: LogFields): void
  error(msg: string, fields?: LogFields): void
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const SECRET = /password|secret|token|authorization|cookie|api_key|totp|recovery/i
/** Anything that looks like one of our keys, wherever it stands. */
const KEY_TEXT = /wdp_[0-9A-Za-z]{10,}/g

export function createLog(level: LogLevel, clock: Clock, write: (line: string) => void): Log {
  const emit = (at: LogLevel, msg: string, fields: LogFields = {}): void => {
    if (RANK[at] < RANK[level]) return
    write(JSON.stringify({ ts: isoTime(clock.now()), level: at, msg, ...fields }, redact))
  }
  return {
    debug: (msg, fields) => emit('debug', msg, fields),
    info: (msg, fields) => emit('info', msg, fields),
    warn: (msg, fields) => emit('warn', msg, fields),
    error: (msg, fields) => emit('error', msg, fields),
  }
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

function redact(name: string, value: unknown): unknown {
  if (value instanceof Error) return { error: value.name, message: value.message, stack: value.stack }
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'string') return value
  if (SECRET.test(name)) return '[redacted]'
  return value.replace(KEY_TEXT, (key) => `${key.slice(0, 14)}…`)
}
