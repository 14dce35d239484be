/**
 * IP addresses and networks as bytes: 4 for IPv4, 16 for IPv6. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`, RFC 4291
 * §2.5.5.2) is read as the IPv4 address it stands for, so that one host has one form. Zone ids are not accepted.
 */
export type IpBytes = Uint8Array

export interface Cidr {
  bytes: IpBytes
  /** Leading bits that must be equal: 0-32 or 0-128. */
  prefix: number
}

/** The bytes of an address, or null when the text is not one. */
export function parseIp(text: string): IpBytes | null {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

/** `a.b.c.d` or RFC 5952 text. */
export function formatIp(bytes: IpBytes): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups: number[] = []
  for (let i = 0; i < 16; i += 2) groups.push((bytes[i]! << 8) | bytes[i + 1]!)
  let best_at = -1
  let best_length = 1
  for (let i = 0; i < 8; i++) {
    let length = 0
    while (i + length < 8 && groups[i + length] === 0) length++
    if (length > best_length) {
      best_at = i
      best_length = length
    }
  }
  const hex = (part: number[]): string => part.map((group) => group.toString(16)).join(':')
  if (best_at < 0) return hex(groups)
  return `${hex(groups.slice(0, best_at))}::${hex(groups.slice(best_at + best_length))}`
}

/** An address in its one canonical form, or null when the text is not an address. */
export function normalizeIp(text: string): string | null {
  const bytes = parseIp(text)
  return bytes === null ? null : formatIp(bytes)
}

/** `network/prefix`, or a lone address as the network of one host; null when it is neither. Host bits are cleared. */
export function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/')
  const address = slash < 0 ? text : text.slice(0, slash)
  const bytes = parseIp(address)
  if (bytes === null) return null
  const bits = bytes.length * 8
  if (slash < 0) return { bytes, prefix: bits }
  const written = text.slice(slash + 1)
  if (!/^\d{1,3}$/.test(written)) return null
  // A mapped network is written with 128 bits and kept with 32.
  const prefix = Number(written) - (bits === 32 && address.includes(':') ? 96 : 0)
  if (prefix < 0 || prefix > bits) return null
  return { bytes: maskIp(bytes, prefix), prefix }
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr.bytes)}/${cidr.prefix}`
}

export function cidrContains(cidr: Cidr, ip: IpBytes): boolean {
  if (ip.length !== cidr.bytes.length) return false
  const whole = cidr.prefix >> 3
  for (let i = 0; i < whole; i++) if (ip[i] !== cidr.bytes[i]) return false
  const rest = cidr.prefix & 7
  if (rest === 0) return true
  const mask = (0xff << (8 - rest)) & 0xff
  return (ip[whole]! & mask) === (cidr.bytes[whole]! & mask)
}

/** The address with everything after the first `prefix` bits cleared. */
export function maskIp(ip: IpBytes, prefix: number): IpBytes {
  const out = new Uint8Array(ip.length)
  for (let i = 0; i < ip.length; i++) {
    const bits = Math.min(8, Math.max(0, prefix - i * 8))
    out[i] = ip[i]! & ((0xff << (8 - bits)) & 0xff)
  }
  return out
}

/** 127.0.0.0/8 and ::1. */
export function isLoopback(ip: IpBytes): boolean {
  if (ip.length === 4) return ip[0] === 127
  return ip[15] === 1 && ip.every((byte, i) => i === 15 || byte === 0)
}

function parseIpv4(text: string): IpBytes | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  const out = new Uint8Array(4)
  for (let i = 0; i < 4; i++) {
    const part = parts[i]!
    if (!/^(0|[1-9]\d{0,2})$/.test(part)) return null
    const value = Number(part)
    if (value > 255) return null
    out[i] = value
  }
  return out
}

function parseIpv6(text: string): IpBytes | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const head = groupsOf(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? groupsOf(halves[1]!, true) : []
  if (head === null || tail === null) return null
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null
  const groups = [...head, ...Array.from<number>({ length: missing }).fill(0), ...tail]
  const out = new Uint8Array(16)
  for (let i = 0; i < 8; i++) {
    out[i * 2] = groups[i]! >> 8
    out[i * 2 + 1] = groups[i]! & 0xff
  }
  const mapped = out[10] === 0xff && out[11] === 0xff && out.subarray(0, 10).every((byte) => byte === 0)
  return mapped ? out.slice(12) : out
}

/** The 16-bit groups of one side of `::`; the last may be an IPv4 address where that is allowed. */
function groupsOf(text: string, may_end_in_ipv4: boolean): number[] | null {
  if (text === '') return []
  const out: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (part.includes('.')) {
      const v4 = may_end_in_ipv4 && i === parts.length - 1 ? parseIpv4(part) : null
      if (v4 === null) return null
      out.push((v4[0]! << 8) | v4[1]!, (v4[2]! << 8) | v4[3]!)
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return null
      out.push(Number.parseInt(part, 16))
    }
  }
  return out
}
