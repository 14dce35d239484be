/**
 * The enumerations of aggregate reports (RFC 7489 appendix C, RFC 9990 §3) and the other ways in which reporters
 * write them. A reader answers the value, and how it was found: as the standard writes it, by an alias, or not at all.
 */
import type { Disposition, DkimResult, PolicyValue, ReasonType, SpfResult } from './types.ts'

export type Found = 'exact' | 'alias' | 'unknown' | 'empty'

export interface Vocabulary<T extends string> {
  /** Reads a trimmed value. Fast for exact ones. */
  read(text: string): { value: T; found: Found }
}

function vocabulary<T extends string>(
  values: readonly T[],
  fallback: T,
  aliases: Record<string, T>,
): Vocabulary<T> {
  const exact = new Map(values.map((value) => [value as string, { value, found: 'exact' as const }]))
  const folded = new Map<string, T>()
  for (const value of values) folded.set(fold(value), value)
  for (const [alias, value] of Object.entries(aliases)) folded.set(fold(alias), value)
  const empty = { value: fallback, found: 'empty' as const }
  return {
    read(text) {
      const hit = exact.get(text)
      if (hit !== undefined) return hit
      if (text === '') return empty
      const value = folded.get(fold(text))
      return value === undefined ? { value: fallback, found: 'unknown' } : { value, found: 'alias' }
    },
  }
}

function fold(text: string): string {
  return text
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

export const DISPOSITION: Vocabulary<Disposition> = vocabulary(
  ['none', 'pass', 'quarantine', 'reject'],
  'none',
  {
    accept: 'none',
    deliver: 'none',
    delivered: 'none',
    quarantined: 'quarantine',
    junk: 'quarantine',
    spam: 'quarantine',
    rejected: 'reject',
    oreject: 'reject',
  },
)

/** The fallback of a policy is never used: an unreadable one is absent. */
export const POLICY: Vocabulary<PolicyValue> = vocabulary(['none', 'quarantine', 'reject'], 'none', {
  monitor: 'none',
  quarantined: 'quarantine',
  rejected: 'reject',
})

export const DKIM_RESULT: Vocabulary<DkimResult> = vocabulary(
  ['none', 'pass', 'fail', 'policy', 'neutral', 'temperror', 'permerror'],
  'none',
  {
    passed: 'pass',
    success: 'pass',
    valid: 'pass',
    ok: 'pass',
    failed: 'fail',
    hardfail: 'fail',
    softfail: 'fail',
    error: 'temperror',
    temporaryerror: 'temperror',
    tempfail: 'temperror',
    invalid: 'permerror',
    permanenterror: 'permerror',
    permfail: 'permerror',
  },
)

export const SPF_RESULT: Vocabulary<SpfResult> = vocabulary(
  ['none', 'neutral', 'pass', 'fail', 'softfail', 'policy', 'temperror', 'permerror'],
  'none',
  {
    passed: 'pass',
    success: 'pass',
    ok: 'pass',
    failed: 'fail',
    hardfail: 'fail',
    error: 'temperror',
    temporaryerror: 'temperror',
    tempfail: 'temperror',
    invalid: 'permerror',
    permanenterror: 'permerror',
    permfail: 'permerror',
  },
)

export const REASON_TYPE: Vocabulary<ReasonType> = vocabulary(
  [
    'forwarded',
    'sampled_out',
    'trusted_forwarder',
    'mailing_list',
    'local_policy',
    'policy_test_mode',
    'other',
  ],
  'other',
  { forward: 'forwarded', forwarder: 'forwarded', list: 'mailing_list', testmode: 'policy_test_mode' },
)

export const ALIGNMENT: Vocabulary<'r' | 's'> = vocabulary(['r', 's'], 'r', { relaxed: 'r', strict: 's' })
export const SCOPE: Vocabulary<'mfrom' | 'helo'> = vocabulary(['mfrom', 'helo'], 'mfrom', {
  mailfrom: 'mfrom',
  envelope: 'mfrom',
  ehlo: 'helo',
})
export const TESTING: Vocabulary<'y' | 'n'> = vocabulary(['y', 'n'], 'n', {
  yes: 'y',
  true: 'y',
  no: 'n',
  false: 'n',
})
export const DISCOVERY: Vocabulary<'psl' | 'treewalk'> = vocabulary(['psl', 'treewalk'], 'psl', {
  publicsuffixlist: 'psl',
  tree: 'treewalk',
})
