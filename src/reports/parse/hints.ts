/**
 * What names say about a report: the file name `receiver!domain!begin!end[!id].xml.gz` and the subject
 * `Report Domain: D Submitter: S Report-ID: <id>` (RFC 9990 §3.5). Fallback and cross-check, never truth.
 */
import { isDomain, readDomain } from './fields.ts'

export interface Hints {
  receiver: string | null
  domain: string | null
  /** Milliseconds. */
  begin: number | null
  end: number | null
  report_id: string | null
}

export function readHints(file_name: string, subject: string | null): Hints {
  const hints: Hints = { receiver: null, domain: null, begin: null, end: null, report_id: null }
  const base = file_name.slice(0, 500).replace(/^.*[\\/]/s, '')
  const name = /^([^!]*)!([^!]+)!(\d{9,10})!(\d{9,10})(?:!([^!]+?))?(?:\.(?:xml|gz|zip|json))*$/i.exec(base)
  if (name !== null) {
    hints.receiver = domainOrNull(name[1]!)
    hints.domain = domainOrNull(name[2]!)
    hints.begin = Number(name[3]) * 1000
    hints.end = Number(name[4]) * 1000
    hints.report_id = name[5] ?? null
  }
  const line = (subject ?? '').slice(0, 1000)
  const domain = /\bReport[ _-]?Domain:\s*(\S+)/i.exec(line)
  const submitter = /\bSubmitter:\s*(\S+)/i.exec(line)
  const id = /\bReport-?ID:\s*(<[^>]*>|\S+)/i.exec(line)
  hints.domain ??= domain === null ? null : domainOrNull(domain[1]!)
  hints.receiver ??= submitter === null ? null : domainOrNull(submitter[1]!)
  if (id !== null) hints.report_id = id[1]!.replaceAll(/[<>]/g, '')
  return hints
}

function domainOrNull(text: string): string | null {
  const { value } = readDomain(text)
  return isDomain(value) ? value : null
}
