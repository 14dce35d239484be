/**
 * Floods the running executable from outside and counts what passes: never more than 100 requests of a key and 1,000 of
 * a tenant whose time from sending to answer lies in any 60 seconds. `bun test/bench/flood.ts [SECONDS]`
 */
import { ask, emptyPlace, start } from '../smoke.ts'

const SECONDS = Number(process.argv[2] ?? 130)
const KEYS = 13

interface Passed {
  sent: number
  answered: number
}

/** Most intervals that lie wholly inside one window of 60 s. */
function mostInAMinute(passed: readonly Passed[]): number {
  const by_start = [...passed].sort((a, b) => a.sent - b.sent)
  let most = 0
  for (const [i, first] of by_start.entries()) {
    let inside = 0
    for (let j = i; j < by_start.length && by_start[j]!.sent <= first.sent + 60_000; j++) {
      if (by_start[j]!.answered <= first.sent + 60_000) inside++
    }
    most = Math.max(most, inside)
  }
  return most
}

const place = emptyPlace()
const made = await ask(place, 'tenant', 'create', '--name', 'flood', '--email', 'a@flood.test')
const keys = [String(made['api_key'])]
while (keys.length < KEYS) {
  const more = await ask(
    place,
    'key',
    'create',
    '--tenant',
    String(made['tenant_id']),
    '--name',
    'k',
    '--scopes',
    '*',
  )
  keys.push(String(more['api_key']))
}
const server = await start(place)
const passed = keys.map((): Passed[] => [])
let refused = 0
let untrue = 0
const until = performance.now() + SECONDS * 1000

await Promise.all(
  keys.map(async (key, index) => {
    while (performance.now() < until) {
      const sent = performance.now()
      const answer = await fetch(`${server.url}/v1/settings/scopes`, {
        headers: { authorization: `Bearer ${key}` },
      })
      await answer.arrayBuffer()
      const answered = performance.now()
      if (answer.status === 200) passed[index]!.push({ sent, answered })
      else {
        refused++
        const wait = Number(answer.headers.get('retry-after'))
        const reset = Number(answer.headers.get('x-ratelimit-reset'))
        const true_headers = wait >= 1 && wait <= 61 && Math.abs(reset - Date.now() / 1000 - wait) <= 2
        if (!true_headers || answer.headers.get('x-ratelimit-remaining') !== '0') untrue++
      }
      // The first key never rests; the others come in bursts.
      if (index > 0) await Bun.sleep(Math.random() < 0.02 ? Math.random() * 8000 : Math.random() * 120)
      else await Bun.sleep(5)
    }
  }),
)
await server.stop()
place.remove()
console.log(
  JSON.stringify({
    seconds: SECONDS,
    most_of_a_key: Math.max(...passed.map(mostInAMinute)),
    most_of_the_tenant: mostInAMinute(passed.flat()),
    passed: passed.flat().length,
    refused,
    refusals_with_untrue_headers: untrue,
  }),
)
