/**
 * `bun run crashtest [N]`: N kills (100 by default) of the compiled executable under writes, and as many of a sender
 * of webhooks under deliveries.
 */
import { crashHooks } from './hooks.ts'
import { crashServer } from './server.ts'

const kills = Number(process.argv[2] ?? 100)
const server = await crashServer(kills)
console.log(JSON.stringify({ server }, null, 2))
const hooks = await crashHooks(kills)
console.log(JSON.stringify({ hooks }, null, 2))
const sound = [server.lost, hooks.lost, hooks.doubled, hooks.odd].every((each) => each.length === 0)
process.exit(sound ? 0 : 1)
