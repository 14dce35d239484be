/**
 * Bytes of a document to text, in pieces: byte order mark, then the declared encoding, then UTF-8. Where UTF-8 does
 * not hold, single bytes are read as windows-1252 and the text around them stays UTF-8 (RFC 3629; many reporters
 * declare UTF-8 and send latin-1 names).
 */
export interface Decoder {
  write(chunk: Uint8Array): string
  end(): string
  /** Bytes that had to be read as windows-1252. */
  readonly fallbacks: number
  /** The encoding that was declared but cannot be right or is not known; null when all is well. */
  readonly wrong_label: string | null
}

/** `head`: the first bytes (100 or more where there are as many). */
export function createDecoder(head: Uint8Array): Decoder {
  const wide = utf16Of(head)
  if (wide !== null) return labelled(wide, null)
  const declared = declaredEncoding(head)
  if (declared === null || /^(utf-?8|us-ascii|ascii)$/.test(declared)) return lenientUtf8(null)
  // UTF-16 cannot be declared in bytes that were readable as ASCII.
  if (declared.startsWith('utf-16') || declared.startsWith('ucs')) return lenientUtf8(declared)
  try {
    return labelled(declared, null)
  } catch {
    return lenientUtf8(declared)
  }
}

function utf16Of(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head.length < 4) return null
  if (head[0] !== 0 && head[1] === 0 && head[2] !== 0 && head[3] === 0) return 'utf-16le'
  if (head[0] === 0 && head[1] !== 0 && head[2] === 0 && head[3] !== 0) return 'utf-16be'
  return null
}

function declaredEncoding(head: Uint8Array): string | null {
  const text = new TextDecoder('latin1').decode(head.subarray(0, 512))
  const found = /<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']/i.exec(text)
  return found === null ? null : found[1]!.toLowerCase()
}

function labelled(label: string, wrong_label: string | null): Decoder {
  const decoder = new TextDecoder(label)
  return {
    fallbacks: 0,
    wrong_label,
    write: (chunk) => decoder.decode(chunk, { stream: true }),
    end: () => decoder.decode(),
  }
}

function lenientUtf8(wrong_label: string | null): Decoder {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let held: Uint8Array = new Uint8Array(0)
  let started = false
  let fallbacks = 0

  const decode = (bytes: Uint8Array): string => {
    let text: string
    try {
      text = strict.decode(bytes)
    } catch {
      const mixed = decodeMixed(bytes)
      fallbacks += mixed.fallbacks
      text = mixed.text
    }
    if (!started && text !== '') {
      started = true
      if (text.codePointAt(0) === 0xfeff) return text.slice(1)
    }
    return text
  }

  return {
    wrong_label,
    get fallbacks() {
      return fallbacks
    },
    write(chunk) {
      let bytes = chunk
      if (held.length > 0) {
        bytes = new Uint8Array(held.length + chunk.length)
        bytes.set(held)
        bytes.set(chunk, held.length)
      }
      const cut = bytes.length - incompleteTail(bytes)
      held = bytes.slice(cut)
      return decode(bytes.subarray(0, cut))
    },
    end() {
      const rest = held
      held = new Uint8Array(0)
      return rest.length === 0 ? '' : decode(rest)
    },
  }
}

/** Bytes at the end (0-3) that may be the beginning of a longer sequence. */
function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc2) return sequenceLength(byte) > back ? back : 0
  }
  return 0
}

function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

/** What windows-1252 makes of each byte (WHATWG Encoding). */
const SINGLE = Uint16Array.from(
  new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, i) => i)),
  (char) => char.charCodeAt(0),
)

/** UTF-8 where it holds, windows-1252 byte by byte where it does not. */
function decodeMixed(bytes: Uint8Array): { text: string; fallbacks: number } {
  const units = new Uint16Array(bytes.length)
  let used = 0
  let fallbacks = 0
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at]!
    const length = byte < 0x80 ? 1 : validSequence(bytes, at)
    if (length <= 1) {
      if (length === 0) fallbacks++
      units[used++] = SINGLE[byte]!
      at++
      continue
    }
    const code = codePoint(bytes, at, length)
    if (code > 0xffff) {
      units[used++] = 0xd800 + ((code - 0x10000) >> 10)
      units[used++] = 0xdc00 + (code & 0x3ff)
    } else units[used++] = code
    at += length
  }
  const text = new TextDecoder('utf-16le', { ignoreBOM: true }).decode(units.subarray(0, used))
  return { text, fallbacks }
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  let code = bytes[at]! & (0xff >> (length + 1))
  for (let i = 1; i < length; i++) code = (code << 6) | (bytes[at + i]! & 0x3f)
  return code
}

/** Length of the valid multi-byte sequence at `at`, or 0 (RFC 3629 §4: no overlong forms, no surrogates). */
function validSequence(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!
  const length = sequenceLength(lead)
  if (length === 1 || at + length > bytes.length) return 0
  const second = bytes[at + 1]!
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (second < low || second > high) return 0
  for (let i = 2; i < length; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  return length
}
