/**
 * Where the product may reach out to when somebody else chose the destination. Pure: the addresses of a name are
 * resolved elsewhere, at every attempt, and each is asked about here before it is connected to.
 *
 * Everything that is not a public unicast address is refused, unless the operator listed its network. Addresses where
 * clouds hand out credentials are refused whatever is listed.
 */
import { type Cidr, cidrContains, formatIp, type IpBytes, parseCidr, parseIp } from '../lib/ip.ts'
import { URL_CHARS_MAX } from '../lib/limits.ts'

export interface EgressRefusal {
  /** Stable: scheme, credentials, fragment, too_long, port, address, metadata. */
  reason: string
  /** For people, with the name of the setting where one helps. */
  detail: string
}

export interface EgressPolicy {
  /** Reads a URL for a webhook: what it leads to, or why it may not be used whatever its name resolves to. */
  readTarget(url: string): EgressTarget | EgressRefusal
  /** Why this address may not be connected to, or null. */
  refusesAddress(ip: string): EgressRefusal | null
}

export interface EgressTarget {
  /** Lower case, without brackets and final dot. */
  host: string
  /** The host is an address itself. */
  literal: boolean
  port: number
  /** Path and query. */
  path: string
}

/** RFC 6890 and IANA's special-purpose registry, multicast and the reserved rest. */
const DENIED_V4 = cidrs(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
)
/** Only global unicast is let through at all; of it not Teredo, ORCHID, documentation, 6to4. */
const GLOBAL_V6 = cidrs('2000::/3')
const DENIED_V6 = cidrs('2001::/32 2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 2002::/16 3fff::/20')
/** AWS, GCP, Azure and others (link-local), ECS, EKS, Azure's wire server, Alibaba, Oracle, AWS and GCP over IPv6. */
const METADATA = cidrs(
  '169.254.169.254 169.254.170.2 169.254.170.23 168.63.129.16 100.100.100.200 192.0.0.192',
  'fd00:ec2::254 fd00:ec2::23 fd20:ce::254',
)
/** Services that speak other than HTTP and could be made to listen: never right for a webhook. */
const DENIED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 79, 87, 95, 101, 102, 103, 104, 109,
  110, 111, 113, 115, 117, 119, 123, 135, 137, 138, 139, 143, 161, 162, 179, 389, 427, 445, 465, 512, 513,
  514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521,
  1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 5060, 5061, 5432, 5900, 5984, 5985,
  5986, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 9042, 9092, 9200, 9300, 10080, 10250, 11211,
  27017,
])
const HTTPS_PORT = 443

export interface EgressSettings {
  /** Networks of the operator that are let through besides the public ones. */
  allow: readonly Cidr[]
  /** The only ports that are let through; null: all but the denied ones. */
  ports: readonly number[] | null
}

export function createEgressPolicy({ allow, ports }: EgressSettings): EgressPolicy {
  const refusesAddress = (text: string): EgressRefusal | null => {
    const ip = text.includes('%') ? null : parseIp(text)
    if (ip === null) return refusal('address', 'It leads to something that is not an address.')
    if (contains(METADATA, ip)) return refusal('metadata', 'It leads to a metadata service.')
    if (contains(allow, ip) || isPublic(ip)) return null
    return refusal(
      'address',
      'It leads to a loopback, private, link-local or reserved address. An operator can let a network through ' +
        'with the setting WARDPOST_EGRESS_ALLOW.',
    )
  }

  const refusesPort = (port: number): EgressRefusal | null => {
    if (ports !== null && !ports.includes(port)) {
      return refusal('port', `Port ${port} is not among those of the setting WARDPOST_EGRESS_PORTS.`)
    }
    return DENIED_PORTS.has(port) ? refusal('port', `Port ${port} belongs to another service.`) : null
  }

  return {
    refusesAddress,
    readTarget(text) {
      const url = text.length > URL_CHARS_MAX ? null : URL.parse(text)
      if (url === null) return refusal('invalid', 'It is not a URL.')
      if (url.protocol !== 'https:') return refusal('scheme', 'It must begin with https://.')
      if (url.username !== '' || url.password !== '') {
        return refusal('credentials', 'It must not hold a user name or password.')
      }
      if (text.includes('#')) return refusal('fragment', 'It must not have a fragment (#…).')
      const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
      if (host === '') return refusal('invalid', 'It names no host.')
      const port = url.port === '' ? HTTPS_PORT : Number(url.port)
      const literal = parseIp(host) !== null
      const refused = refusesPort(port) ?? (literal ? refusesAddress(host) : null)
      return refused ?? { host, literal, port, path: url.pathname + url.search }
    },
  }
}

export function isRefusal(value: object): value is EgressRefusal {
  return 'reason' in value
}

function refusal(reason: string, detail: string): EgressRefusal {
  return { reason, detail }
}

function isPublic(ip: IpBytes): boolean {
  return ip.length === 4 ? !contains(DENIED_V4, ip) : contains(GLOBAL_V6, ip) && !contains(DENIED_V6, ip)
}

function contains(networks: readonly Cidr[], ip: IpBytes): boolean {
  return networks.some((each) => cidrContains(each, ip))
}

function cidrs(...lines: string[]): Cidr[] {
  return lines.flatMap((line) => line.split(' ')).map((text) => parseCidr(text)!)
}

/** An address as it goes into a URL. */
export function urlHost(ip: string): string {
  const bytes = parseIp(ip)
  const text = bytes === null ? ip : formatIp(bytes)
  return text.includes(':') ? `[${text}]` : text
}
