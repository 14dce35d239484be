/**
 * What somebody can do who holds the database file, and how it is found. The clumsy change entries; the competent
 * rewrite every hash and the head after them, so that the chain fits together again.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Verification } from '../../src/audit/verify.ts'
import type { BadKind } from '../../src/audit/walk.ts'
import { type ChainEntry, entryText, genesisHash, nextHash } from '../../src/lib/audit-chain.ts'
import { openDb } from '../../src/db/open.ts'
import { openIntruder, openTestAudit, type TestAudit } from '../support/audit.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

const TENANT = 'ten_1'
/** Entries that a checkpoint vouches for, and those that came after it. */
const SIGNED = 12
const LATER = 5

let t: TestDb
let outside: string
let a: TestAudit

beforeEach(async () => {
  t = await openTestDb()
  outside = mkdtempSync(join(tmpdir(), 'wardpost-outside-'))
  await open()
  await write(SIGNED)
  await a.checkpoints.round()
})
afterEach(async () => {
  await t.db.close()
  rmSync(t.data_dir, { recursive: true, force: true })
  rmSync(outside, { recursive: true, force: true })
})

async function open(): Promise<void> {
  a = openTestAudit(t, join(outside, 'checkpoints.log'))
  await a.checkpoints.start()
}

async function write(count: number, tenant = TENANT): Promise<void> {
  for (let i = 0; i < count; i++) {
    t.clock.advance(1000)
    await t.db.commit(testActor(tenant, { type: 'user', id: 'usr_1' }), {
      writes: [],
      audit: { action: 'domains.create', target: { type: 'domain', id: `dom_${i}` }, detail: { n: i } },
    })
  }
}

const verify = (chain = TENANT, given: string[] = []) => a.audit.verify(testActor(chain), null, lines(given))

async function* lines(given: readonly string[]): AsyncGenerator<string> {
  yield* given
}

function tamper(sql: string): void {
  const intruder = openIntruder(t.data_dir)
  intruder.run(sql)
  intruder.close()
}

/** Changes the chain and makes it fit together again: numbers, hashes, head. */
function rewrite(change: (entries: ChainEntry[]) => ChainEntry[], chain = TENANT): void {
  const intruder = openIntruder(t.data_dir)
  const rows = intruder
    .query<{ entry: string }, [string]>('SELECT entry FROM audit_entries WHERE tenant_id = ? ORDER BY seq')
    .all(chain)
  const entries = change(rows.map((row) => JSON.parse(row.entry) as ChainEntry))
  intruder.query('DELETE FROM audit_entries WHERE tenant_id = ?').run(chain)
  let hash = genesisHash(t.db.instance_id, chain)
  for (const [index, entry] of entries.entries()) {
    const text = entryText({ ...entry, seq: index + 1 })
    hash = nextHash(hash, text)
    intruder
      .query('INSERT INTO audit_entries (tenant_id, seq, entry, hash) VALUES (?, ?, ?, ?)')
      .run(chain, index + 1, text, hash)
  }
  intruder
    .query('UPDATE audit_heads SET seq = ?, hash = ? WHERE tenant_id = ?')
    .run(entries.length, hash, chain)
  intruder.close()
}

const edit = (index: number) => (entries: ChainEntry[]) =>
  entries.map((entry, at) => (at === index ? { ...entry, actor: { ...entry.actor, id: 'usr_9' } } : entry))
const remove = (index: number) => (entries: ChainEntry[]) => entries.toSpliced(index, 1)
const insert = (index: number) => (entries: ChainEntry[]) => entries.toSpliced(index, 0, entries[index]!)
const swap = (index: number) => (entries: ChainEntry[]) =>
  entries.toSpliced(index, 2, entries[index + 1]!, entries[index]!)
const truncate = (count: number) => (entries: ChainEntry[]) => entries.slice(0, -count)

const found = ({ ok, first_bad }: Verification) => ({ ok, seq: first_bad?.seq, kind: first_bad?.kind })

test('untouched, the log is whole and vouched for to its end', async () => {
  const result = await verify()
  expect(result).toMatchObject({
    ok: true,
    checked: SIGNED,
    unanchored: 0,
    verdicts: { integrity: 'ok', completeness: 'ok', anchoring: 'full', redaction: 'none' },
    checkpoint: { seq: SIGNED, key: a.signer.fingerprint },
  })
  expect((await verify('_system')).ok).toBe(true)
})

describe('the clumsy are found at the entry', () => {
  const CLUMSY: [string, string, number, BadKind][] = [
    ['edit', `UPDATE audit_entries SET entry = replace(entry, 'usr_1', 'usr_9') WHERE seq = 5`, 5, 'altered'],
    ['delete', 'DELETE FROM audit_entries WHERE seq = 5', 5, 'missing'],
    [
      'swap',
      `UPDATE audit_entries SET seq = CASE seq WHEN 5 THEN 106 ELSE 105 END WHERE seq IN (5, 6);
       UPDATE audit_entries SET seq = seq - 100 WHERE seq > 100`,
      5,
      'order',
    ],
    ['truncate', `DELETE FROM audit_entries WHERE seq > 8`, 9, 'truncated'],
  ]
  for (const [name, sql, seq, kind] of CLUMSY) {
    test(name, async () => {
      for (const each of sql.split(';')) tamper(each)
      expect(found(await verify())).toEqual({ ok: false, seq, kind })
    })
  }
})

describe('the competent are found at the checkpoint that their work covers', () => {
  const COMPETENT: [string, (entries: ChainEntry[]) => ChainEntry[], number, BadKind][] = [
    ['edit', edit(4), SIGNED, 'altered'],
    ['delete', remove(4), SIGNED, 'truncated'],
    ['insert', insert(4), SIGNED, 'altered'],
    ['swap', swap(4), SIGNED, 'altered'],
    ['truncate the tail', truncate(4), SIGNED - 3, 'truncated'],
  ]
  for (const [name, change, seq, kind] of COMPETENT) {
    test(name, async () => {
      rewrite(change)
      const result = await verify()
      expect(found(result)).toEqual({ ok: false, seq, kind })
      expect(result.verdicts.anchoring).toBe('failed')
    })

    test(`${name}, and the checkpoints in the database removed: the file outside finds it`, async () => {
      rewrite(change)
      tamper('DELETE FROM audit_checkpoints')
      expect(found(await verify())).toEqual({ ok: false, seq, kind })
    })
  }

  test('delete, with other entries in the place of those that are gone', async () => {
    rewrite((entries) => [...remove(4)(entries), entries[0]!])
    expect(found(await verify())).toEqual({ ok: false, seq: SIGNED, kind: 'altered' })
  })
})

describe('a whole chain that is gone', () => {
  const wipe = () => {
    for (const table of ['audit_entries', 'audit_heads', 'audit_personal', 'audit_checkpoints']) {
      tamper(`DELETE FROM ${table} WHERE tenant_id = '${TENANT}'`)
    }
  }

  test('is missed by whoever asks for it', async () => {
    wipe()
    const result = await verify()
    expect(found(result)).toEqual({ ok: false, seq: 1, kind: 'truncated' })
    expect(result.first_bad?.detail).toStartWith('The whole log is gone: the log had 12')
  })

  test('is named by the chain of the installation', async () => {
    wipe()
    rmSync(join(outside, 'checkpoints.log'))
    const system = await verify('_system')
    expect(found(system)).toEqual({ ok: false, seq: SIGNED, kind: 'missing' })
    expect(system.first_bad?.detail).toStartWith(`The log of ${TENANT} is gone: it had 12 entries`)
    expect(found(await verify())).toEqual({ ok: false, seq: 1, kind: 'truncated' })
  })
})

describe('an older copy of the data folder', () => {
  let copy: string

  beforeEach(async () => {
    copy = join(outside, 'copy.db')
    const intruder = openIntruder(t.data_dir)
    intruder.query('VACUUM INTO ?').run(copy)
    intruder.close()
    t.clock.advance(60_000)
    await write(LATER)
    await a.checkpoints.round()
    await putBack()
  })

  async function putBack(): Promise<void> {
    await t.db.close()
    for (const end of ['', '-wal', '-shm']) rmSync(join(t.data_dir, `wardpost.db${end}`), { force: true })
    copyFileSync(copy, join(t.data_dir, 'wardpost.db'))
    t.db = openDb({ data_dir: t.data_dir, clock: t.clock, reserve_bytes: 0 })
    await open()
  }

  test('is too short for what was signed', async () => {
    expect(found(await verify())).toEqual({ ok: false, seq: SIGNED + 1, kind: 'truncated' })
  })

  test('that went on, and was signed again, is told from a rewritten one', async () => {
    t.clock.advance(60_000)
    await write(LATER + 3)
    await a.checkpoints.round()
    const result = await verify()
    expect(found(result)).toEqual({ ok: false, seq: SIGNED + LATER, kind: 'altered' })
    await write(1)
    expect(result.verdicts).toMatchObject({ integrity: 'failed', anchoring: 'failed' })
  })

  test('is found by what was sent elsewhere when the file was put back as well', async () => {
    const sent = readFileSync(a.file.path, 'utf8').trimEnd().split('\n')
    rmSync(a.file.path)
    expect(found(await verify(TENANT, [sent.at(-1)!]))).toEqual({
      ok: false,
      seq: SIGNED + 1,
      kind: 'truncated',
    })
    rmSync(a.file.path, { force: true })
    expect((await verify()).ok).toBe(true)
  })
})

describe('another key', () => {
  /** Everything in the data folder anew: the entries, the key, the checkpoints. */
  async function forge(): Promise<void> {
    rewrite(edit(4))
    tamper('DELETE FROM audit_checkpoints')
    tamper('DELETE FROM audit_keys')
    rmSync(join(t.data_dir, 'audit-signing.key'))
    await open()
    await a.checkpoints.round({ all: true })
  }

  test('is found by the file outside', async () => {
    await forge()
    const result = await verify()
    expect(result.ok).toBe(false)
    expect(result.first_bad).toMatchObject({ seq: SIGNED, kind: 'bad_checkpoint' })
    expect(result.verdicts.anchoring).toBe('failed')
  })

  test('is found by any line that was sent elsewhere, when the file was replaced too', async () => {
    const sent = readFileSync(a.file.path, 'utf8').trimEnd().split('\n')
    rmSync(a.file.path)
    await forge()
    expect((await verify()).ok).toBe(true)
    expect((await verify(TENANT, sent)).first_bad).toMatchObject({ kind: 'bad_checkpoint' })
  })

  test('that only signs checkpoints into the file is found', async () => {
    const other = openTestAudit({ ...t, data_dir: outside })
    const states = await a.store.states()
    const line = other.signer.sign({
      kind: 'checkpoint',
      instance_id: t.db.instance_id,
      tenant_id: TENANT,
      incarnation: 1,
      n: 2,
      seq: 7,
      hash: Buffer.from(states.at(-1)!.hash!).toString('hex'),
      signed_at: t.clock.now(),
      prev: null,
    })
    expect((await verify(TENANT, [line])).first_bad).toMatchObject({ seq: 7, kind: 'bad_checkpoint' })
  })

  test('whose former was lost begins a life of its own, named, and the old checkpoints stay good', async () => {
    const former = a.signer.fingerprint
    rmSync(join(t.data_dir, 'audit-signing.key'))
    await open()
    expect(a.signer.fingerprint).not.toBe(former)
    await write(1)
    await a.checkpoints.round()
    const result = await verify()
    expect(result).toMatchObject({ ok: true, verdicts: { anchoring: 'full', completeness: 'ok' } })
    expect(result.restored).toMatchObject([{ name: 'rekeyed', incarnation: 2, lost: null }])
  })

  test('whose former was found again goes on with that one, and all three stretches stay good', async () => {
    const path = join(t.data_dir, 'audit-signing.key')
    const former = readFileSync(path)
    rmSync(path)
    await open()
    await write(2)
    await a.checkpoints.round()
    writeFileSync(path, former)
    await open()
    await write(2)
    await a.checkpoints.round()
    const result = await verify()
    expect(result).toMatchObject({ ok: true, verdicts: { anchoring: 'full' } })
    expect(result.restored.map(({ incarnation }) => incarnation).sort()).toEqual([2, 3])
    expect((await verify('_system')).ok).toBe(true)
  })
})

describe('not detectable before the next anchor', () => {
  const LIST: [string, (entries: ChainEntry[]) => ChainEntry[]][] = [
    ['editing', edit(SIGNED + 1)],
    ['deleting', remove(SIGNED + 1)],
    ['inserting', insert(SIGNED + 1)],
    ['swapping', swap(SIGNED + 1)],
    ['cutting off', truncate(2)],
  ]
  for (const [name, change] of LIST) {
    test(`${name} entries that came after the newest checkpoint, and the log says how many these are`, async () => {
      await write(LATER)
      rewrite(change)
      const result = await verify()
      expect(result).toMatchObject({
        ok: true,
        verdicts: { anchoring: 'partial' },
        checkpoint: { seq: SIGNED },
      })
      expect(result.unanchored).toBe(result.to_seq! - SIGNED)
    })

    test(`${name} the same once they were signed is found`, async () => {
      await write(LATER)
      await a.checkpoints.round()
      rewrite(change)
      expect((await verify()).ok).toBe(false)
    })
  }

  test('a chain that was made and deleted between two checkpoints', async () => {
    await write(3, 'ten_2')
    for (const table of ['audit_entries', 'audit_heads'])
      tamper(`DELETE FROM ${table} WHERE tenant_id = 'ten_2'`)
    expect((await verify('ten_2')).ok).toBe(true)
    expect((await verify('_system')).ok).toBe(true)
  })
})

test('what a power cut left half-written in the file takes no other line with it', async () => {
  writeFileSync(a.file.path, `${readFileSync(a.file.path, 'utf8')}{"chain`)
  await write(1)
  await a.checkpoints.round()
  const text = readFileSync(a.file.path, 'utf8').trimEnd().split('\n')
  expect(text.at(-2)).toStartWith('{"')
  expect(existsSync(a.file.path)).toBe(true)
  tamper('DELETE FROM audit_checkpoints')
  expect(await verify()).toMatchObject({ ok: true, verdicts: { anchoring: 'full' } })
})
