/** What another process uses, where the system says so. */
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

/** Clock ticks of /proc are hundredths of a second on every Linux there is (USER_HZ). */
const TICK_MS = 10

/** Processor time used so far, or null when it cannot be known. */
export function processorMs(pid: number): number | null {
  if (process.platform !== 'linux') return null
  try {
    // The name in parentheses may hold anything; fields are counted after it (proc(5): 14 utime, 15 stime).
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    return Number.isFinite(ticks) ? ticks * TICK_MS : null
  } catch {
    return null
  }
}
