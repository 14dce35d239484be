/**
 * RFC 8785 (JSON Canonicalization Scheme), restricted to values that every language writes the same way: ASCII
 * keys, safe integers, well-formed strings, no undefined. Within that subset "sort the keys, then JSON.stringify"
 * is the RFC's form byte for byte, and the same as Python's `json.dumps(sort_keys=True, separators=(',', ':'),
 * ensure_ascii=False)`. Everything outside of it is a bug of the caller and throws, because bytes that are hashed
 * must never depend on who wrote them.
 */
const DEPTH_MAX = 32
const ASCII_KEY = /^[\x20-\x7e]+$/

/** The canonical text of `value`. Throws a TypeError that names the place for anything outside the subset. */
export function canonicalJson(value: unknown): string {
  return write(value, '$', 0)
}

function write(value: unknown, at: string, depth: number): string {
  if (depth > DEPTH_MAX) throw new TypeError(`canonical json: nested deeper than ${DEPTH_MAX} at ${at}`)
  if (value === null) return 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new TypeError(`canonical json: lone surrogate at ${at}`)
    return JSON.stringify(value)
  }
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      throw new TypeError(`canonical json: not a safe integer at ${at}`)
    }
    return String(value)
  }
  if (typeof value !== 'object') throw new TypeError(`canonical json: ${typeof value} at ${at}`)
  return Array.isArray(value) ? writeArray(value, at, depth) : writeObject(value, at, depth)
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
  for (const [key, member] of Object.entries(object).sort(byKey)) {
    if (!ASCII_KEY.test(key)) throw new TypeError(`canonical json: key is not ASCII at ${at}`)
    members.push(`${JSON.stringify(key)}:${write(member, `${at}.${key}`, depth + 1)}`)
  }
  return `{${members.join(',')}}`
}

/** By UTF-16 code units, as the RFC demands; never by locale. */
function byKey(a: [string, unknown], b: [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}
