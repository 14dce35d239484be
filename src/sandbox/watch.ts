/** How much memory another process has resident, where the system says so. */
import { readFileSync } from 'node:fs'

/** Bytes, or null when it cannot be known (another system than Linux, or the process is gone). */
export function residentBytes(pid: number): number | null {
  if (process.platform !== 'linux') return null
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const found = /^VmRSS:\s+(\d+) kB/m.exec(status)
    return found === null ? null : Number(found[1]) * 1024
  } catch {
    return null
  }
}
