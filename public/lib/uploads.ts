/**
 * The queue of files on their way to the server. It lives outside the page, so that one can leave it and come back;
 * it ends with the tab. Files go one after the other; many small ones share a request.
 */
import { useSyncExternalStore } from 'react'
import { api, ApiProblem, explain } from './api.ts'
import { nowMs } from './format.ts'
import { refresh } from './query.ts'
import type { UploadFile } from './types.ts'

/** What the server takes per file, in bytes. */
export const FILE_BYTES_MAX = 25 * 1024 * 1024
/** From this many files on, several go in one request. */
const BATCH_FROM_FILES = 40
const BATCH_FILES_MAX = 20
const BATCH_BYTES_MAX = 20 * 1024 * 1024

export interface UploadItem {
  id: number
  name: string
  size: number
  state: 'waiting' | 'reading' | 'done' | 'failed'
  result?: UploadFile
  /** Why it failed before a report could be looked for. */
  problem?: string
}

export interface UploadJob {
  started_ms: number
  items: readonly UploadItem[]
  running: boolean
  stopping: boolean
}

let job: UploadJob | null = null
let next_id = 1
const files = new Map<number, File>()
/** Files that failed together with others: they are tried once more, alone. */
const alone = new Set<number>()
const listeners = new Set<() => void>()

function change(next: UploadJob | null): void {
  job = next
  for (const listener of listeners) listener()
}

function patch(
  ids: ReadonlySet<number>,
  values: (item: UploadItem, index: number) => Partial<UploadItem>,
): void {
  if (job === null) return
  let index = 0
  change({
    ...job,
    items: job.items.map((item) => (ids.has(item.id) ? { ...item, ...values(item, index++) } : item)),
  })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useUpload(): UploadJob | null {
  return useSyncExternalStore(subscribe, () => job)
}

/** Adds files; starts when nothing runs. */
export function addFiles(added: readonly File[]): void {
  if (added.length === 0) return
  const items = added.map((file): UploadItem => {
    const id = next_id++
    if (file.size > FILE_BYTES_MAX) {
      return {
        id,
        name: file.name,
        size: file.size,
        state: 'failed',
        problem: 'The file is larger than 25 MB.',
      }
    }
    files.set(id, file)
    return { id, name: file.name, size: file.size, state: 'waiting' }
  })
  const running = job?.running === true
  change({
    started_ms: running && job !== null ? job.started_ms : nowMs(),
    items: running && job !== null ? [...job.items, ...items] : items,
    running: true,
    stopping: false,
  })
  if (!running) void run()
}

/** What is being read is finished, the rest stays waiting. */
export function stopUpload(): void {
  if (job?.running === true) change({ ...job, stopping: true })
}

export function resumeUpload(): void {
  if (job === null || job.running || !job.items.some((item) => item.state === 'waiting')) return
  change({ ...job, running: true, stopping: false })
  void run()
}

/** Sends again what failed on the way. */
export function retryFailed(): void {
  const ids = new Set(
    (job?.items ?? []).filter((item) => item.state === 'failed' && files.has(item.id)).map((item) => item.id),
  )
  if (ids.size === 0) return
  patch(ids, () => ({ state: 'waiting' }))
  resumeUpload()
}

/** True when the file is still held and can be sent again. */
export function canRetry(): boolean {
  return job?.items.some((item) => item.state === 'failed' && files.has(item.id)) === true
}

export function clearUpload(): void {
  if (job?.running === true) return
  files.clear()
  alone.clear()
  change(null)
}

function nextBatch(): UploadItem[] {
  const waiting = (job?.items ?? []).filter((item) => item.state === 'waiting')
  const several = (job?.items.length ?? 0) >= BATCH_FROM_FILES
  const batch: UploadItem[] = []
  let size = 0
  for (const item of waiting) {
    if (
      batch.length > 0 &&
      (!several || batch.length >= BATCH_FILES_MAX || size + item.size > BATCH_BYTES_MAX)
    )
      break
    batch.push(item)
    size += item.size
    if (alone.has(item.id)) break
  }
  return batch
}

async function run(): Promise<void> {
  for (;;) {
    const batch = job?.stopping === true ? [] : nextBatch()
    if (batch.length === 0) break
    await sendBatch(batch)
  }
  if (job !== null) change({ ...job, running: false, stopping: false })
  await refresh('/v1/reports', '/v1/domains', '/v1/audit')
}

async function sendBatch(batch: readonly UploadItem[]): Promise<void> {
  const ids = new Set(batch.map((item) => item.id))
  patch(ids, () => ({ state: 'reading' }))
  const form = new FormData()
  for (const item of batch) {
    const file = files.get(item.id)
    if (file !== undefined) form.append('file', file, item.name)
  }
  try {
    const answer = await api.upload<{ results: UploadFile[] }>('/v1/reports/upload', form)
    patch(ids, (_item, index) => {
      const result = answer.results[index]
      return result === undefined
        ? { state: 'failed', problem: 'The server gave no result for this file.' }
        : { state: 'done', result }
    })
    for (const id of ids) files.delete(id)
  } catch (error) {
    await afterProblem(error, ids)
  }
}

/** Too many requests: wait as told and try the same files again. Anything else is their result. */
async function afterProblem(error: unknown, ids: ReadonlySet<number>): Promise<void> {
  if (error instanceof ApiProblem && error.status === 429) {
    patch(ids, () => ({ state: 'waiting' }))
    await new Promise((resolve) => setTimeout(resolve, error.retry_after_ms ?? 5000))
    return
  }
  const again = error instanceof ApiProblem && error.status >= 500 && [...ids].some((id) => !alone.has(id))
  if (again) {
    for (const id of ids) alone.add(id)
    patch(ids, () => ({ state: 'waiting' }))
    return
  }
  patch(ids, () => ({ state: 'failed', problem: explain(error) }))
  // Without a connection or a session the rest would fail the same way: it waits instead.
  if (error instanceof ApiProblem && (error.status === 0 || error.status === 401)) stopUpload()
}
