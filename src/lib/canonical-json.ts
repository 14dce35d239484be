/**
 * RFC 8785 (JSON Canonicalization Scheme), restricted to values that every language writes the same way: ASCII
 * keys, safe integers, well-formed strings, no undefined. Within that subset "sort the keys, then JSON.stringify"
 * is the RFC's form byte for byte, and the same as Python's `json.dumps(sort_keys=True, separators=(',', ':'),
 * ensure_ascii=False)`. Everything outside of it is a bug of the caller and throws, because bytes that are hashed
 * must never depend on who wrote them.
 */
const DEPTH_MAX = 32
const ASCII_KEY = /^[\x20-\x7e]+$/
/** Text that JSON writes as it is: ASCII without quotes, backslashes and controls. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** The canonical text of `value`. Throws a TypeError that names the place for anything outside the subset. */
export function canonicalJson(value: unknown): string {
  return write(value, '$', 0)
}

function write(value: unknown, at: string, depth: number): string {
  if (depth > DEPTH_MAX) throw new TypeError(`canonical json: nested deeper than ${DEPTH_MAX} at ${at}`)
  if (value === null) return 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'string') return writeString(value, at)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      throw new TypeError(`canonical json: not a safe integer at ${at}`)
    }
    return String(value)
  }
  if (typeof value !== 'object') throw new TypeError(`canonical json: ${typeof value} at ${at}`)
  return Array.isArray(value) ? writeArray(value, at, depth) : writeObject(value, at, depth)
}

function writeString(text: string, at: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError(`canonical json: lone surrogate at ${at}`)
  return JSON.stringify(text)
}

function writeArray(items: readonly unknown[], at: string, depth: number): string {
  // Array.from turns holes into undefined, which is refused like any other undefined.
  return `[${Array.from(items, (item, index) => write(item, `${at}[${index}]`, depth + 1)).join(',')}]`
}

function writeObject(object: object, at: string, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`canonical json: not a plain object at ${at}`)
  }
  const members: string[] = []
  // Without a comparison sort() goes by UTF-16 code units, as the RFC demands; never by locale.
  for (const key of Object.keys(object).sort()) {
    if (!ASCII_KEY.test(key)) throw new TypeError(`canonical json: key is not ASCII at ${at}`)
    const member = (object as Record<string, unknown>)[key]
    members.push(`${writeString(key, at)}:${write(member, `${at}.${key}`, depth + 1)}`)
  }
  return `{${members.join(',')}}`
}
