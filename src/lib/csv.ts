/**
 * CSV as RFC 4180 has it, safe to open in a spreadsheet: a value that a spreadsheet would run as a formula gets an
 * apostrophe in front (reports are written by strangers). Numbers of ours are not touched.
 */
export type CsvValue = string | number | boolean | null

/** One row with its line end. */
export function csvRow(values: readonly CsvValue[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

/** A spreadsheet skips leading spaces and some control characters before it looks for a formula. */
const FORMULA = /^[\s\u0000-\u001f]*[=+\-@\u0009\u000d]/

function csvValue(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const safe = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
