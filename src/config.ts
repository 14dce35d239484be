/**
 * Settings: one row each, read from the command line and the environment and from nowhere else (a flag wins). What an
 * admin changes at run time is in the database. A value that is wrong, or a `WARDPOST_*` variable that does not exist,
 * is an error that names it: a misspelt setting must never start a server that ignores it.
 */
import { formatCidr, isLoopback, parseCidr, parseIp } from './lib/ip.ts'
import type { LogLevel } from './lib/log.ts'

type Kind = 'path' | 'host' | 'integer' | 'url' | 'cidrs' | 'ports' | 'choice' | 'resolver'

interface Row {
  key: string
  kind: Kind
  default: string
  doc: string
  secret: boolean
  min?: number
  max?: number
  choices?: readonly string[]
}

/** The table. `env` is `WARDPOST_` and the key in capitals, `flag` is `--` and the key with dashes. */
const ROWS = [
  {
    key: 'data',
    kind: 'path',
    default: './wardpost-data',
    secret: false,
    doc: 'Folder of the database, the originals, the keys and the backups.',
  },
  {
    key: 'host',
    kind: 'host',
    default: '127.0.0.1',
    secret: false,
    doc: 'Address to listen on. Anything but loopback needs TLS or a named proxy.',
  },
  {
    key: 'port',
    kind: 'integer',
    default: '8080',
    secret: false,
    min: 0,
    max: 65_535,
    doc: 'Port to listen on; 0 takes a free one.',
  },
  {
    key: 'base_url',
    kind: 'url',
    default: '',
    secret: false,
    doc: 'Where people reach the server, for links and the origin check. Default: from host, port and TLS.',
  },
  {
    key: 'tls_cert',
    kind: 'path',
    default: '',
    secret: false,
    doc: 'PEM file of the certificate chain. Read again when it changes.',
  },
  {
    key: 'tls_key',
    kind: 'path',
    default: '',
    secret: false,
    doc: 'PEM file of the private key of the certificate.',
  },
  {
    key: 'tls',
    kind: 'choice',
    default: 'off',
    secret: false,
    choices: ['off', 'auto'],
    doc: '`auto` makes an own authority and certificate and prints the fingerprint.',
  },
  {
    key: 'behind_proxy',
    kind: 'cidrs',
    default: '',
    secret: false,
    doc: 'Networks of the reverse proxies, comma separated. Only their `X-Forwarded-For` is believed.',
  },
  {
    key: 'resolver',
    kind: 'resolver',
    default: 'system',
    secret: false,
    doc: 'DNS: `system`, `off`, or addresses with optional port (`9.9.9.9,[2620:fe::fe]:53`).',
  },
  {
    key: 'egress_allow',
    kind: 'cidrs',
    default: '',
    secret: false,
    doc: 'Private networks that webhooks may reach, comma separated. Metadata services never.',
  },
  {
    key: 'egress_ports',
    kind: 'ports',
    default: '',
    secret: false,
    doc: 'The only ports that webhooks may reach, comma separated. Default: all but those of other services.',
  },
  {
    key: 'ca_file',
    kind: 'path',
    default: '',
    secret: false,
    doc: 'PEM file of further authorities to believe when reaching out.',
  },
  {
    key: 'asn_db',
    kind: 'path',
    default: '',
    secret: false,
    doc: 'MMDB file of networks (GeoLite2-ASN or alike); names the senders that sign nothing.',
  },
  {
    key: 'checkpoints',
    kind: 'path',
    default: '',
    secret: false,
    doc: 'File that signed checkpoints of the audit log are added to, best on another disk. Default: in the data folder.',
  },
  {
    key: 'log_level',
    kind: 'choice',
    default: 'info',
    secret: false,
    choices: ['debug', 'info', 'warn', 'error'],
    doc: 'Least level that is logged.',
  },
] as const satisfies readonly Row[]

type Key = (typeof ROWS)[number]['key']

export type TlsMode = 'off' | 'files' | 'auto'

export interface ResolverSetting {
  mode: 'system' | 'off' | 'servers'
  /** `address:port`, IPv6 in brackets; empty unless the mode is `servers`. */
  servers: string[]
}

/** What the rest of the product sees: parsed and consistent with itself. */
export interface Config {
  data: string
  host: string
  port: number
  /** Without a trailing slash; null when it follows from the address listened on. */
  base_url: string | null
  tls: { mode: 'off' } | { mode: 'auto' } | { mode: 'files'; cert: string; key: string }
  /** CIDRs in canonical form. */
  behind_proxy: string[]
  resolver: ResolverSetting
  /** CIDRs in canonical form. */
  egress_allow: string[]
  /** Null: every port that no other service owns. */
  egress_ports: number[] | null
  ca_file: string | null
  asn_db: string | null
  checkpoints: string | null
  log_level: LogLevel
}

/** A setting as the instance page and the README show it. */
export interface SettingView {
  name: string
  env: string
  flag: string
  value: string | number | null
  default: string | number | null
  source: 'default' | 'environment' | 'flag'
  doc: string
  secret: boolean
}

export type ConfigResult =
  | { ok: true; config: Config; settings: SettingView[]; rest: string[] }
  | { ok: false; problems: string[] }

export const envOf = (key: string): string => `WARDPOST_${key.toUpperCase()}`
export const flagOf = (key: string): string => `--${key.replaceAll('_', '-')}`

/**
 * Reads the settings of a command line (after the verb) and an environment. `rest` is what belongs to the verb. Empty
 * variables count as not set. Pure: touches no file.
 */
export function readConfig(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ConfigResult {
  const problems: string[] = []
  const { given, rest } = takeFlags(argv, problems)
  const known = new Set<string>(ROWS.map((row) => envOf(row.key)))
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith('WARDPOST_') || name.startsWith('WARDPOST_TEST_') || known.has(name)) continue
    problems.push(`${name}: there is no such setting${closest(name, known)}`)
  }

  const text = {} as Record<Key, string>
  const settings: SettingView[] = []
  for (const row of ROWS as readonly (Row & { key: Key })[]) {
    const from_env = env[envOf(row.key)]
    const from_flag = given.get(row.key)
    const source = from_flag !== undefined ? 'flag' : from_env ? 'environment' : 'default'
    const value = source === 'flag' ? from_flag! : source === 'environment' ? from_env! : row.default
    const name = source === 'environment' ? envOf(row.key) : flagOf(row.key)
    const wrong = source === 'default' ? null : CHECKS[row.kind](value, row)
    if (wrong !== null) problems.push(`${name}: ${wrong}`)
    text[row.key] = value
    settings.push(viewOf(row, value, source))
  }
  if (problems.length > 0) return { ok: false, problems }

  const config = toConfig(text)
  problems.push(...inconsistencies(text, config))
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config, settings, rest }
}

/** The table for the README: every setting with its default. */
export function describeSettings(): SettingView[] {
  return ROWS.map((row: Row) => viewOf(row, row.default, 'default'))
}

function viewOf(row: Row, value: string, source: SettingView['source']): SettingView {
  const typed = (text: string): string | number | null =>
    text === '' ? null : row.kind === 'integer' ? Number(text) : text
  return {
    name: row.key,
    env: envOf(row.key),
    flag: flagOf(row.key),
    value: row.secret && value !== '' ? '(set)' : typed(value),
    default: typed(row.default),
    source,
    doc: row.doc,
    secret: row.secret,
  }
}

function takeFlags(
  argv: readonly string[],
  problems: string[],
): { given: Map<string, string>; rest: string[] } {
  const by_flag = new Map<string, string>(ROWS.map((row) => [flagOf(row.key), row.key]))
  const given = new Map<string, string>()
  const rest: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const token = argv[i]!
    if (token === '--') {
      rest.push(...argv.slice(i))
      break
    }
    const equals = token.startsWith('--') ? token.indexOf('=') : -1
    const flag = equals < 0 ? token : token.slice(0, equals)
    const key = by_flag.get(flag)
    if (key === undefined) {
      rest.push(token)
      continue
    }
    const value = equals < 0 ? argv[++i] : token.slice(equals + 1)
    if (value === undefined || value === '' || (equals < 0 && value.startsWith('--'))) {
      problems.push(`${flag}: needs a value`)
      if (equals < 0) i--
    } else if (given.has(key)) problems.push(`${flag}: given twice`)
    else given.set(key, value)
  }
  return { given, rest }
}

/** Per kind: what is wrong with a value, or null. */
const CHECKS: Record<Kind, (value: string, row: Row) => string | null> = {
  path: (value) => (value.includes('\0') ? 'is not a path' : null),
  host: (value) =>
    parseIp(value) !== null || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(value)
      ? null
      : `'${value}' is neither an address nor a host name`,
  integer: (value, row) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    return number >= row.min! && number <= row.max!
      ? null
      : `'${value}' is not a whole number from ${row.min} to ${row.max}`
  },
  url: checkUrl,
  cidrs: (value) => {
    const bad = listOf(value).find((item) => parseCidr(item) === null)
    if (bad !== undefined) return `'${bad}' is not a network such as 10.0.0.0/8`
    return listOf(value).length === 0 ? 'names no network' : null
  },
  ports: (value) => {
    const bad = listOf(value).find((item) => portOf(item) === null)
    if (bad !== undefined) return `'${bad}' is not a port from 1 to 65535`
    return listOf(value).length === 0 ? 'names no port' : null
  },
  choice: (value, row) =>
    row.choices!.includes(value) ? null : `'${value}' is not one of ${row.choices!.join(', ')}`,
  resolver: (value) => {
    if (value === 'system' || value === 'off') return null
    const bad = listOf(value).find((item) => serverOf(item) === null)
    if (bad !== undefined) return `'${bad}' is not system, off or an address with an optional port`
    return listOf(value).length === 0 ? 'names no address' : null
  },
}

function portOf(item: string): number | null {
  const port = /^\d{1,5}$/.test(item) ? Number(item) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

function checkUrl(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return `'${value}' is not an http or https address`
  if (url.username !== '' || url.search !== '' || url.hash !== '' || url.pathname !== '/')
    return `'${value}' must be a scheme, a host and a port only`
  return null
}

function listOf(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** CIDRs in their one form. */
function networksOf(value: string): string[] {
  return listOf(value).map((item) => formatCidr(parseCidr(item)!))
}

/** `address`, `address:port` or `[address]:port` in one form, or null. */
function serverOf(item: string): string | null {
  const bare = parseIp(item)
  if (bare !== null) return bare.length === 4 ? `${item}:53` : `[${item}]:53`
  const match = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(item)
  if (match === null) return null
  const address = match[1] ?? match[2]!
  const port = Number(match[3])
  if (parseIp(address) === null || port < 1 || port > 65_535) return null
  return match[1] === undefined ? `${address}:${port}` : `[${address}]:${port}`
}

function toConfig(text: Record<Key, string>): Config {
  const servers = ['system', 'off'].includes(text.resolver) ? [] : listOf(text.resolver)
  return {
    data: text.data,
    host: text.host,
    port: Number(text.port),
    base_url: text.base_url === '' ? null : new URL(text.base_url).origin,
    tls:
      text.tls_cert !== '' && text.tls_key !== ''
        ? { mode: 'files', cert: text.tls_cert, key: text.tls_key }
        : { mode: text.tls === 'auto' ? 'auto' : 'off' },
    behind_proxy: networksOf(text.behind_proxy),
    resolver: {
      mode: servers.length > 0 ? 'servers' : text.resolver === 'off' ? 'off' : 'system',
      servers: servers.map((item) => serverOf(item)!),
    },
    egress_allow: networksOf(text.egress_allow),
    egress_ports: text.egress_ports === '' ? null : listOf(text.egress_ports).map(Number),
    ca_file: text.ca_file === '' ? null : text.ca_file,
    asn_db: text.asn_db === '' ? null : text.asn_db,
    checkpoints: text.checkpoints === '' ? null : text.checkpoints,
    log_level: text.log_level as LogLevel,
  }
}

function inconsistencies(text: Record<Key, string>, config: Config): string[] {
  const out: string[] = []
  if ((text.tls_cert === '') !== (text.tls_key === ''))
    out.push(`${text.tls_cert === '' ? '--tls-cert' : '--tls-key'}: certificate and key go together`)
  if (text.tls === 'auto' && text.tls_cert !== '')
    out.push('--tls: auto makes its own certificate, so it does not go with --tls-cert')
  return out.concat(config.tls.mode === 'off' ? plainHttpProblem(config) : [])
}

/** Plain HTTP stays on this machine, or behind a proxy that was named. */
function plainHttpProblem(config: Config): string[] {
  const address = parseIp(config.host)
  const local = address === null ? config.host === 'localhost' : isLoopback(address)
  if (local || config.behind_proxy.length > 0) return []
  return [
    `--host: ${config.host} is not loopback, and plain HTTP would show every password and key on the way; ` +
      'add --tls auto, or --tls-cert and --tls-key, or --behind-proxy',
  ]
}

function closest(name: string, known: ReadonlySet<string>): string {
  const near = [...known].find((other) => distance(name, other) <= 2)
  return near === undefined ? '' : `; did you mean ${near}?`
}

/** Levenshtein distance of two short names. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
