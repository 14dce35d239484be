/** Results of an upload as rows: one per report, problems first. */
import { repairWords } from '../../lib/dmarc.ts'
import { bytes } from '../../lib/format.ts'
import type { Repair, UploadEntry, UploadFile } from '../../lib/types.ts'
import type { UploadItem } from '../../lib/uploads.ts'
import type { StateKind } from '../../ui/state.tsx'

export const KINDS = [
  'failed',
  'rejected',
  'unassigned',
  'repaired',
  'revision',
  'created',
  'duplicate',
  'reading',
  'waiting',
] as const
export type ResultKind = (typeof KINDS)[number]

export const KIND_LOOK: Record<ResultKind, { state: StateKind; word: string }> = {
  failed: { state: 'fail', word: 'Not read' },
  rejected: { state: 'fail', word: 'Rejected' },
  unassigned: { state: 'medium', word: 'Unassigned' },
  repaired: { state: 'medium', word: 'Created, repaired' },
  revision: { state: 'half', word: 'Revision' },
  created: { state: 'pass', word: 'Created' },
  duplicate: { state: 'none', word: 'Duplicate' },
  reading: { state: 'pending', word: 'Reading' },
  waiting: { state: 'pending', word: 'Waiting' },
}

export interface ResultRow {
  key: string
  kind: ResultKind
  file: string
  /** What it is and how large, and the code of a refusal. */
  about: string
  code: string | undefined
  text: string
  entry: UploadEntry | undefined
}

const KIND_WORDS: Record<string, string> = { dmarc: '', tls: 'TLS report', failure: 'failure report' }

function kindOf(entry: UploadEntry): ResultKind {
  if (entry.status === 'rejected') return 'rejected'
  if (entry.status === 'duplicate') return 'duplicate'
  if (entry.assigned === false) return 'unassigned'
  if (entry.status === 'revision') return 'revision'
  return (entry.repairs ?? []).length > 0 ? 'repaired' : 'created'
}

/** Repairs named in a row; the report itself lists all. */
const REPAIRS_NAMED = 3

function repairText(repairs: readonly Repair[]): string {
  const named = repairs.slice(0, REPAIRS_NAMED).map(repairWords).join(' · ')
  const rest = repairs.length - REPAIRS_NAMED
  return rest > 0 ? `${named} · and ${rest} more` : named
}

function textOf(entry: UploadEntry, kind: ResultKind): string {
  const parts: string[] = []
  if (kind === 'rejected') parts.push(entry.detail ?? 'It could not be read.', 'Nothing of it was counted.')
  if (kind === 'unassigned')
    parts.push(`Kept, but ${entry.domain ?? 'its domain'} is not one of your domains.`)
  if (kind === 'duplicate') parts.push(entry.detail ?? 'Already here. Nothing was counted twice.')
  if (kind === 'revision')
    parts.push(entry.detail ?? 'Same report id as an earlier one, which stays readable.')
  const repairs = entry.repairs ?? []
  if (repairs.length > 0 && kind !== 'rejected') {
    parts.push(`${repairs.length === 1 ? '1 repair' : `${repairs.length} repairs`}: ${repairText(repairs)}`)
  }
  return parts.join(' ')
}

function aboutOf(item: UploadItem, file: UploadFile | undefined, entry: UploadEntry | undefined): string {
  const parts = [
    entry === undefined ? '' : (KIND_WORDS[entry.kind ?? ''] ?? ''),
    file?.kind ?? '',
    bytes(file?.bytes ?? item.size),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function rowsOf(item: UploadItem): ResultRow[] {
  const base = { file: item.name, code: undefined, text: '', entry: undefined }
  if (item.state === 'waiting' || item.state === 'reading') {
    return [{ ...base, key: String(item.id), kind: item.state, about: bytes(item.size) }]
  }
  if (item.state === 'failed' || item.result === undefined) {
    return [
      { ...base, key: String(item.id), kind: 'failed', about: bytes(item.size), text: item.problem ?? '' },
    ]
  }
  const several = item.result.reports.length > 1
  return item.result.reports.map((entry, index) => {
    const kind = kindOf(entry)
    const inside = several && entry.entry !== undefined && entry.entry !== '' && entry.entry !== item.name
    return {
      key: `${item.id}-${index}`,
      kind,
      file: inside ? `${item.name} / ${entry.entry}` : item.name,
      about: aboutOf(item, item.result, entry),
      code: entry.code,
      text: textOf(entry, kind),
      entry,
    }
  })
}

/** All rows, problems first, otherwise in the order of the files. */
export function resultRows(items: readonly UploadItem[]): ResultRow[] {
  const rows = items.flatMap(rowsOf)
  return rows.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
}

export interface Added {
  messages: number
  reports: number
  domains: number
  receivers: number
}

/** What the upload brought that was not there before. */
export function addedBy(rows: readonly ResultRow[]): Added {
  const fresh = rows.flatMap((row) =>
    row.entry !== undefined && (row.entry.status === 'created' || row.entry.status === 'revision')
      ? [row.entry]
      : [],
  )
  return {
    messages: fresh.reduce((sum, entry) => sum + (entry.messages ?? 0), 0),
    reports: fresh.length,
    domains: new Set(fresh.map((entry) => entry.domain)).size,
    receivers: new Set(fresh.map((entry) => entry.org_name)).size,
  }
}
