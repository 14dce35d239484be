/**
 * Why a hostile or broken input is not read any further: an error with a stable code and a sentence for people.
 * `fatal` ends the whole input (a budget is used up); otherwise only the entry it was thrown for.
 */
export interface Refusal extends Error {
  readonly refusal: true
  readonly code: string
  readonly detail: string
  readonly fatal: boolean
}

/** Makes a refusal to throw. */
export function refuse(code: string, detail: string, options?: { fatal: boolean }): Refusal {
  const error = new Error(`${code}: ${detail}`)
  return Object.assign(error, { refusal: true as const, code, detail, fatal: options?.fatal ?? false })
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && 'refusal' in error && error.refusal === true
}
