import { describe, expect, test } from 'bun:test'
import type { UploadEntry } from '../../public/lib/types.ts'
import type { UploadItem } from '../../public/lib/uploads.ts'
import { addedBy, resultRows } from '../../public/pages/upload/results.ts'

let next = 1
function item(reports: UploadEntry[], name = 'report.zip'): UploadItem {
  return {
    id: next++,
    name,
    size: 64_000,
    state: 'done',
    result: { file: name, kind: 'zip', bytes: 64_000, reports },
  }
}

const created: UploadEntry = {
  status: 'created',
  id: 'rpt_1',
  kind: 'dmarc',
  entry: '',
  domain: 'example.com',
  org_name: 'Receiver',
  messages: 200,
  assigned: true,
  repairs: [],
}

describe('results of an upload', () => {
  test('put problems first and keep a row per report', () => {
    const rows = resultRows([
      item([created, { ...created, id: 'rpt_2', entry: 'b.xml' }]),
      item([{ status: 'duplicate', repairs: [] }]),
      item([{ status: 'rejected', code: 'not_a_report', detail: 'The file is a picture', repairs: [] }]),
      { id: 99, name: 'later.zip', size: 10, state: 'waiting' },
    ])
    expect(rows.map((row) => row.kind)).toEqual(['rejected', 'created', 'created', 'duplicate', 'waiting'])
    expect(rows[0]?.code).toBe('not_a_report')
    expect(rows[0]?.text).toContain('The file is a picture')
    expect(rows[2]?.file).toBe('report.zip / b.xml')
  })

  test('unassigned counts more than repaired, and both say why', () => {
    const repairs = [{ code: 'encoding_fallback', detail: 'Bytes were read as windows-1252', count: 3 }]
    const [unassigned, repaired] = resultRows([
      item([{ ...created, assigned: false, repairs }]),
      item([{ ...created, repairs }]),
    ])
    expect(unassigned?.kind).toBe('unassigned')
    expect(unassigned?.text).toContain('example.com is not one of your domains')
    expect(repaired?.kind).toBe('repaired')
    expect(repaired?.text).toContain('(3 times)')
  })

  test('a file that never arrived is not called rejected', () => {
    const [row] = resultRows([
      { id: 1, name: 'a.zip', size: 5, state: 'failed', problem: 'The server is busy' },
    ])
    expect(row?.kind).toBe('failed')
    expect(row?.text).toBe('The server is busy')
  })

  test('only what was not there before is added up', () => {
    const rows = resultRows([
      item([created, { ...created, domain: 'example.org', org_name: 'Northmail', messages: 5 }]),
      item([{ ...created, status: 'duplicate' }]),
      item([{ ...created, status: 'revision', messages: 10 }]),
    ])
    expect(addedBy(rows)).toEqual({ messages: 215, reports: 3, domains: 2, receivers: 2 })
  })
})
