/**
 * A process that does nothing but acknowledged writes, until somebody kills it: each through the door, with audit
 * entry and event, from several clients at once. An id is printed when its commit has resolved, not before.
 * Arguments: data folder, clients, and how many writes (without it: until the end).
 */
import { writeSync } from 'node:fs'
import { openDb } from '../../src/db/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { randomWrite } from './support.ts'

const [data_dir = '', clients = '8', writes = 'Infinity'] = process.argv.slice(2)
const db = openDb({ data_dir, clock: systemClock, reserve_bytes: 0 })
const run = Date.now().toString(36)
let next = 0

async function client(): Promise<void> {
  while (next < Number(writes)) {
    const id = `w${run}-${next++}`
    await db.commit(...randomWrite(id))
    writeSync(1, `${id}\n`)
  }
}

writeSync(1, 'ready\n')
await Promise.all(Array.from({ length: Number(clients) }, client))
