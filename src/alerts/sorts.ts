/** The orders a list of alerts can have, and where a page of one ends. */
export const ALERT_SORTS = ['-last_at', 'last_at', '-first_at', 'first_at', '-severity', 'severity'] as const
export type AlertSort = (typeof ALERT_SORTS)[number]

export const SORT_COLUMN = { last_at: 'last_at', first_at: 'first_at', severity: 'severity_rank' } as const

/** Where the page after this row begins. */
export function alertPosition(
  row: { id: string; last_at: number; first_at: number; severity_rank: number },
  sort: AlertSort,
): (string | number)[] {
  return [row[SORT_COLUMN[sort.replace('-', '') as keyof typeof SORT_COLUMN]], row.id]
}
