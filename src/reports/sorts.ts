/** The orders lists of reports and sources can have, and where a page of one ends. */
export const REPORT_SORTS = [
  '-date_end',
  'date_end',
  '-created_at',
  'created_at',
  '-messages',
  'messages',
  '-fail',
] as const
export type ReportSort = (typeof REPORT_SORTS)[number]

export const SOURCE_SORTS = ['-fail', '-messages'] as const
export type SourceSort = (typeof SOURCE_SORTS)[number]

/** Where the page after this row begins: sort value and number. Numbers ascend with the time of arrival. */
export function reportPosition(
  row: { rid: number; date_end: number; messages: number; fail: number },
  sort: ReportSort,
): number[] {
  const field = sort.replace('-', '') as 'date_end' | 'created_at' | 'messages' | 'fail'
  return [field === 'created_at' ? row.rid : row[field], row.rid]
}

export function sourcePosition(
  item: { sender: string; kind: string; messages: number; fail: number },
  sort: SourceSort,
): (string | number)[] {
  return [sort === '-fail' ? item.fail : item.messages, item.messages, item.sender, item.kind]
}
