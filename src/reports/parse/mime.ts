/**
 * The small part of MIME that finding attachments needs: header fields and their parameters (RFC 2045, RFC 2231),
 * encoded words (RFC 2047) and transfer encodings in pieces.
 */
export interface Header {
  /** Lower case. */
  name: string
  /** Unfolded, not decoded. */
  value: string
}

const HEADERS_MAX = 500

/** Fields of a header block; what is no field is ignored. */
export function parseHeaders(block: string): Header[] {
  const headers: Header[] = []
  for (const line of block.split(/\r?\n/)) {
    if (/^[ \t]/.test(line)) {
      const last = headers.at(-1)
      if (last !== undefined && last.value.length < 16_384) last.value += ` ${line.trim()}`
      continue
    }
    const colon = line.indexOf(':')
    if (colon <= 0 || colon > 100 || headers.length >= HEADERS_MAX) continue
    headers.push({ name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() })
  }
  return headers
}

export function headerValue(headers: readonly Header[], name: string): string | null {
  return headers.find((header) => header.name === name)?.value ?? null
}

export interface Parameterised {
  /** Lower case, without parameters. */
  value: string
  parameters: Map<string, string>
}

/** `type/subtype; name="…"; name*0=…; name*=utf-8''…` */
export function parseParameters(text: string): Parameterised {
  const line = text.slice(0, 8192)
  const first = line.indexOf(';')
  const value = (first < 0 ? line : line.slice(0, first)).trim().toLowerCase()
  const raw = new Map<string, string>()
  const pattern = /;\s*([^\s=;"]{1,80})\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;]*))/g
  for (const found of first < 0 ? [] : line.slice(first).matchAll(pattern)) {
    const key = found[1]!.toLowerCase()
    const content = found[2] === undefined ? found[3]!.trim() : found[2].replaceAll(/\\(.)/g, '$1')
    if (!raw.has(key)) raw.set(key, content)
  }
  return { value, parameters: joinContinuations(raw) }
}

/** RFC 2231: pieces `name*0`, `name*1*` put together, percent signs decoded. */
function joinContinuations(raw: Map<string, string>): Map<string, string> {
  const out = new Map<string, string>()
  const pieces = new Map<string, { at: number; text: string; encoded: boolean }[]>()
  for (const [key, text] of raw) {
    const found = /^([^*]+)\*(?:(\d{1,3})(\*?))?$/.exec(key)
    if (found === null) {
      if (!out.has(key)) out.set(key, decodeWords(text))
      continue
    }
    const list = pieces.get(found[1]!) ?? []
    list.push({ at: Number(found[2] ?? 0), text, encoded: found[2] === undefined || found[3] === '*' })
    pieces.set(found[1]!, list)
  }
  for (const [name, list] of pieces) {
    list.sort((a, b) => a.at - b.at)
    const charset = list[0]!.encoded ? /^([\w-]*)'[^']*'/.exec(list[0]!.text) : null
    // A character may be cut between two pieces: bytes first, characters after.
    const bytes = list
      .map((piece, i) => {
        const content = i === 0 && charset !== null ? piece.text.slice(charset[0].length) : piece.text
        return piece.encoded ? decodePercent(content) : content
      })
      .join('')
    const encoded = list.some((piece) => piece.encoded)
    const text = encoded
      ? decodeCharset(Buffer.from(bytes, 'latin1'), charset?.[1] ?? 'utf-8')
      : decodeWords(bytes)
    out.set(name, text)
  }
  return out
}

/** Bytes, each as the character of its number. */
function decodePercent(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function decodeCharset(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset === '' ? 'utf-8' : charset).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** Header text with its encoded words decoded; raw bytes above ASCII are taken as UTF-8. */
export function decodeWords(text: string): string {
  const joined = text.slice(0, 4096).replaceAll(/(\?=)\s+(=\?)/g, '$1$2')
  const decoded = joined.replaceAll(
    /=\?([\w.-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?]*)\?=/gi,
    (_, charset: string, kind: string, data: string) => {
      const bytes =
        kind.toLowerCase() === 'b'
          ? Buffer.from(data, 'base64')
          : Buffer.from(decodeQuoted(data.replaceAll('_', ' ')), 'latin1')
      return decodeCharset(bytes, charset)
    },
  )
  // oxlint-disable-next-line no-control-regex
  if (decoded !== joined || !/[\u0080-\u00ff]/.test(decoded)) return decoded
  return new TextDecoder('utf-8').decode(Buffer.from(decoded, 'latin1'))
}

function decodeQuoted(text: string): string {
  return text.replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Decodes a body in pieces. */
export interface TransferDecoder {
  write(bytes: Uint8Array): Uint8Array
  end(): Uint8Array
}

export function createTransferDecoder(encoding: string): TransferDecoder {
  const kind = encoding.trim().toLowerCase()
  if (kind === 'base64') return createBase64()
  if (kind === 'quoted-printable') return createQuotedPrintable()
  return { write: (bytes) => bytes, end: () => new Uint8Array(0) }
}

function createBase64(): TransferDecoder {
  let held = ''
  return {
    write(bytes) {
      // Padding ends a group: what follows (joined attachments) begins a new one.
      const text = held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
      const clean = text.replaceAll(/[^A-Za-z0-9+/=]/g, '')
      const pad = clean.lastIndexOf('=')
      if (pad < 0) {
        const whole = clean.length - (clean.length % 4)
        held = clean.slice(whole)
        return Buffer.from(clean.slice(0, whole), 'base64')
      }
      const done = clean.slice(0, pad).split(/=+/)
      const rest = clean.slice(pad + 1)
      const whole = rest.length - (rest.length % 4)
      held = rest.slice(whole)
      return Buffer.concat([...done, rest.slice(0, whole)].map((part) => Buffer.from(part, 'base64')))
    },
    end() {
      const rest = held
      held = ''
      return Buffer.from(rest, 'base64')
    },
  }
}

function createQuotedPrintable(): TransferDecoder {
  let held = ''
  const decode = (text: string): Uint8Array =>
    Buffer.from(decodeQuoted(text.replaceAll(/=[ \t]{0,16}\r?\n/g, '')), 'latin1')
  return {
    write(bytes) {
      const text = held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
      const last = text.lastIndexOf('=')
      const cut =
        last >= 0 && text.length - last < 20 && !/^=[0-9a-f]{2}/i.test(text.slice(last)) ? last : text.length
      held = text.slice(cut)
      return decode(text.slice(0, cut))
    },
    end() {
      const rest = held
      held = ''
      return decode(rest.replace(/=\s*$/, ''))
    },
  }
}
