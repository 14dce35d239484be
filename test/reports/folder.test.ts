/**
 * A folder of real reports, when there is one (`WARDPOST_TEST_DATA`): every file is taken in, and messages, pass and
 * fail of each are what an independent reading of the text says; the sum of the folder after the rule of duplicates
 * too, with each fold named.
 */
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { createBlobs } from '../../src/reports/blobs.ts'
import { importPaths } from '../../src/reports/import.ts'
import { createIngest } from '../../src/reports/ingest.ts'
import { createSandboxPool } from '../../src/sandbox/pool.ts'
import { openTestDb, testActor } from '../support/db.ts'
import { recount, rollupRows } from '../support/recount.ts'
import { addTenant } from '../support/reports.ts'

const DATA = process.env['WARDPOST_TEST_DATA'] ?? join(import.meta.dir, '../../../shared/data')
const FOLDER = join(DATA, 'dmarc/real')
const SANDBOX = [process.execPath, join(import.meta.dir, '../support/sandbox-child.ts')]

interface Counted {
  messages: number
  pass: number
  fail: number
  /** What makes it the same report as another. */
  key: string
}

/** Reads a well-formed report with regular expressions and nothing of ours. */
function countByHand(path: string): Counted {
  const text = readFileSync(path, 'utf8').replaceAll(/<!--[\s\S]*?-->/g, '')
  const inner = (part: string, name: string): string =>
    new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([\\s\\S]*?)</(?:\\w+:)?${name}>`, 'i')
      .exec(part)?.[1]
      ?.trim() ?? ''
  let messages = 0
  let pass = 0
  for (const [, record] of text.matchAll(/<record>([\s\S]*?)<\/record>/gi)) {
    const count = Number(inner(record!, 'count'))
    const evaluated = inner(record!, 'policy_evaluated')
    const passes = ['dkim', 'spf'].some((name) => inner(evaluated, name).toLowerCase() === 'pass')
    messages += count
    if (passes) pass += count
  }
  const head = text.slice(0, text.search(/<record>/i) < 0 ? undefined : text.search(/<record>/i))
  const policy = inner(text, 'policy_published')
  const email = inner(head, 'email').toLowerCase()
  const key = [
    inner(policy, 'domain').toLowerCase(),
    email.slice(email.indexOf('@') + 1),
    inner(head, 'report_id').replaceAll(/[<>\s]/g, ''),
    inner(text, 'begin'),
    inner(text, 'end'),
  ]
  return { messages, pass, fail: messages - pass, key: key.join('|') }
}

describe.skipIf(!existsSync(FOLDER))('a folder of real reports', () => {
  test('is counted right, file by file and as a whole', async () => {
    const at = await openTestDb()
    await addTenant(at.db, 'ten_a')
    const pool = createSandboxPool({ command: SANDBOX, size: 1, clock: systemClock })
    const blobs = createBlobs(at.data_dir, at.clock)
    // The folder has reports of 2026 and later; a standing clock would clamp them.
    const ingest = createIngest({ db: at.db, clock: systemClock, pool, blobs, networks: null })
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.xml'))
    const summary = await importPaths(
      ingest,
      testActor('ten_a'),
      [FOLDER],
      () => 0,
      () => {},
    )

    const expected = new Map(files.map((name) => [name, countByHand(join(FOLDER, name))]))
    const distinct = new Map([...expected.values()].map((each) => [each.key, each]))
    expect(summary.rejected).toBe(0)
    expect(summary.created + summary.revisions + summary.duplicates).toBe(files.length)
    expect(summary.created).toBe(distinct.size)
    expect(summary.folds).toHaveLength(files.length - distinct.size)

    const stored = await at.db.query<{ file_name: string } & Counted>(
      'SELECT file_name, messages, pass, fail FROM reports',
    )
    for (const { file_name, messages, pass, fail } of stored) {
      const { key: _, ...by_hand } = expected.get(file_name)!
      expect({ file_name, messages, pass, fail }).toEqual({ file_name, ...by_hand })
    }
    const sum = (name: 'messages' | 'pass' | 'fail'): number =>
      [...distinct.values()].reduce((total, each) => total + each[name], 0)
    const [days] = await at.db.query(
      "SELECT sum(messages) AS messages, sum(pass_both + pass_dkim + pass_spf) AS pass FROM report_days d JOIN policy_domains p ON p.id = d.policy_domain_id WHERE p.name <> '*'",
    )
    expect(days).toEqual({ messages: sum('messages'), pass: sum('pass') })
    expect(await rollupRows(at.db)).toEqual(await recount(at.db))
    await pool.close()
    await at.close()
  }, 60_000)
})
