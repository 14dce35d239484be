/** `bun run crashtest [N]`: N kills (100 by default) of the compiled executable. */
import { crashServer } from './server.ts'

const kills = Number(process.argv[2] ?? 100)
const result = await crashServer(kills)
console.log(JSON.stringify(result, null, 2))
process.exit(result.lost.length === 0 ? 0 : 1)
