/**
 * Domain names. Inside the product a name is its A-label form in lower case without a trailing dot; the Unicode form
 * is for people. "Public suffix" is what the ICANN part of the public suffix list says: `co.uk`, never `github.io`.
 */
import { domainToUnicode } from 'node:url'
import { getDomain, getPublicSuffix } from 'tldts'

const NAME_CHARS_MAX = 253
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/** The A-label form of a name a person wrote, or null when it is not a domain name of two labels or more. */
export function toALabels(text: string): string | null {
  const trimmed = text.trim().replace(/\.$/, '')
  // Characters that end the host part of a URL would otherwise be cut off unseen.
  if (trimmed === '' || /[\s/\\?#@:%[\]]/.test(trimmed)) return null
  let name: string
  try {
    name = new URL(`http://${trimmed}`).hostname
  } catch {
    return null
  }
  const labels = name.split('.')
  if (name.length > NAME_CHARS_MAX || labels.length < 2) return null
  if (!labels.every((label) => LABEL.test(label))) return null
  // An address is not a name, and no top-level domain is a number.
  return /^\d+$/.test(labels.at(-1)!) ? null : name
}

/** For people; the A-labels where there is nothing to decode. */
export function toUnicodeName(name: string): string {
  return name.includes('xn--') ? domainToUnicode(name) || name : name
}

/** True for `com`, `co.uk` and the like: names under which others register. */
export function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name) === name
}

/** `example.co.uk` of `mail.example.co.uk`; null for a public suffix. */
export function registrableDomain(name: string): string | null {
  return getDomain(name)
}
