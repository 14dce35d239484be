/**
 * CSV as RFC 4180 writes it: CRLF, quotes where needed. A text that a spreadsheet would take for a formula gets an
 * apostrophe in front: what a stranger put into a report must not run in the reader's Excel.
 */
export type CsvCell = string | number | boolean | null | undefined

/** Spaces in front do not stop a spreadsheet. */
const FORMULA_START = /^\s*[=+\-@]|^[\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** One line, with its line end. Null and undefined are empty cells. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
