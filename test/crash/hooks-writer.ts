/**
 * Commits events and sends them, until somebody kills it. An event's id is printed when its commit has resolved, not
 * before. Arguments: data folder, file of the authority, clients.
 */
import { readFileSync, writeSync } from 'node:fs'
import { EVENT_KINDS } from '../../src/lib/event-kinds.ts'
import { newId } from '../../src/lib/ids.ts'
import { testActor } from '../support/db.ts'
import { openHooks, TENANTS } from './hooks-support.ts'

const [data_dir = '', authority = '', clients = '4'] = process.argv.slice(2)
const { db, area } = openHooks(data_dir, readFileSync(authority, 'utf8'))
await area.start()

async function client(index: number): Promise<never> {
  const actor = testActor(TENANTS[index % TENANTS.length])
  for (;;) {
    const id = newId('evt', Date.now())
    await db.commit(actor, {
      writes: [],
      audit: { action: 'settings.update', target: { type: 'event', id } },
      events: [{ id, type: 'RBL_LISTED', created_at: Date.now(), data: EVENT_KINDS.RBL_LISTED.example }],
    })
    writeSync(1, `${id}\n`)
    await Bun.sleep(Math.random() * 4)
  }
}

writeSync(1, 'ready\n')
await Promise.all(Array.from({ length: Number(clients) }, (_, index) => client(index)))
