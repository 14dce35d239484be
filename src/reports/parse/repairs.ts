/** Collects what was put right in one report: bounded, first case kept per code and detail, all counted. */
import { REPAIRS, type Repair, type RepairCode } from './types.ts'

const REPAIRS_MAX = 50
const DETAIL_CHARS_MAX = 200

export interface Repairs {
  /** `detail` says which field and, quoted, the value as sent. */
  add(code: RepairCode, detail?: string, count?: number): void
  list(): Repair[]
}

export function createRepairs(): Repairs {
  const found = new Map<string, Repair>()
  const first = new Map<RepairCode, Repair>()
  return {
    add(code, detail = '', count = 1) {
      const text = detail === '' ? REPAIRS[code] : detail.slice(0, DETAIL_CHARS_MAX)
      const key = detail === '' ? code : `${code} ${text}`
      const known = found.get(key)
      if (known !== undefined) {
        known.count += count
        return
      }
      const head = first.get(code)
      if (found.size >= REPAIRS_MAX && head !== undefined) {
        head.count += count
        return
      }
      const repair: Repair = { code, detail: text, count }
      found.set(key, repair)
      if (head === undefined) first.set(code, repair)
    },
    list: () => [...found.values()],
  }
}

/** A value from a file, for a detail: short and without line breaks. */
export function quote(value: string): string {
  const text = value.length > 60 ? `${value.slice(0, 57)}...` : value
  return JSON.stringify(text)
}
