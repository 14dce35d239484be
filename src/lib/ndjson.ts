/** Newline-delimited JSON: one value a line. Line ends inside strings are escaped by JSON itself. */
export const NDJSON_TYPE = 'application/x-ndjson'

export function ndjsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
