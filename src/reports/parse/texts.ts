/**
 * Short texts met before. Reports say the same few hundred values thousands of times; giving back the string that is
 * already there saves making, hashing and flattening it again. Bounded, and shared by all documents.
 */
const SLOTS = 512
/** A kept text holds on to the 64 kB it was cut from: few and short ones are kept. */
const CHARS_MAX = 64
const AMPERSAND = 38

export interface Texts {
  /** The characters as a string when they are printable ASCII without spaces and &, as most values are; else null. */
  at(text: string, start: number, end: number): string | null
}

export function createTexts(): Texts {
  const recent: string[] = Array.from<string>({ length: SLOTS }).fill('')
  return {
    at(text, start, end) {
      const length = end - start
      if (length > CHARS_MAX) return null
      let hash = length
      for (let i = start; i < end; i++) {
        const code = text.charCodeAt(i)
        if (code <= 32 || code >= 127 || code === AMPERSAND) return null
        hash = (Math.imul(hash, 31) + code) | 0
      }
      const slot = (hash ^ (hash >>> 9)) & (SLOTS - 1)
      const guess = recent[slot]!
      if (isAt(guess, text, start, length)) return guess
      const made = text.slice(start, end)
      recent[slot] = made
      return made
    },
  }
}

/** True when these characters are at that place. A loop is three times faster here than `startsWith`. */
export function isAt(wanted: string, text: string, start: number, length: number): boolean {
  if (wanted.length !== length) return false
  for (let i = 0; i < length; i++) if (wanted.charCodeAt(i) !== text.charCodeAt(start + i)) return false
  return true
}
