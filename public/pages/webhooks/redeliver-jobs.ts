/**
 * The sending-again that was started from this browser tab. It runs on the server; here is only which jobs to ask
 * about, so that one can leave the page and find them again.
 */
import { useSyncExternalStore } from 'react'

export interface RedeliverJob {
  /** Whose it is: one person may change between organisations in a tab. */
  tenant_id: string
  webhook_id: string
  job_id: string
  host: string
}

const KEY = 'wardpost.redeliver'
let jobs: readonly RedeliverJob[] | undefined
const listeners = new Set<() => void>()

function read(): readonly RedeliverJob[] {
  if (jobs !== undefined) return jobs
  jobs = []
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    if (Array.isArray(kept)) jobs = kept as RedeliverJob[]
  } catch {
    // Storage is refused, or holds something else: nothing is lost on the server.
  }
  return jobs
}

function change(next: readonly RedeliverJob[]): void {
  jobs = next
  try {
    sessionStorage.setItem(KEY, JSON.stringify(next))
  } catch {
    // Kept until the page is loaded anew.
  }
  for (const listener of listeners) listener()
}

export function addJob(job: RedeliverJob): void {
  change([...read(), job])
}

export function dropJob(job_id: string): void {
  change(read().filter((job) => job.job_id !== job_id))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** All of an organisation, or those of one webhook. */
export function useJobs(tenant_id: string, webhook_id?: string): readonly RedeliverJob[] {
  return useSyncExternalStore(subscribe, read).filter(
    (job) => job.tenant_id === tenant_id && (webhook_id === undefined || job.webhook_id === webhook_id),
  )
}
