/** The orders a list of domains can have, and where a page of one ends. */
export const DOMAIN_SORTS = [
  'name',
  '-name',
  'compliance',
  '-compliance',
  'messages',
  '-messages',
  'created_at',
  '-created_at',
] as const
export type DomainSort = (typeof DOMAIN_SORTS)[number]

/** What is sorted by; a domain without messages sorts below every rate. */
export const SORT_VALUE = {
  name: 'name',
  compliance: 'coalesce(rate, -1)',
  messages: 'messages',
  created_at: 'created_at',
} as const

/** Where the page after this row begins. */
export function domainPosition(
  row: { id: string; name: string; rate: number | null; messages: number; created_at: number },
  sort: DomainSort,
): (string | number)[] {
  const field = sort.replace('-', '') as keyof typeof SORT_VALUE
  const value = field === 'compliance' ? (row.rate ?? -1) : row[field]
  return [value, row.id]
}
