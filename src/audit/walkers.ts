/**
 * Long chains are walked by child processes of our own executable, a stretch each, over connections of their own: the
 * server goes on answering as if nothing were, and two processors need half the time. A stretch attaches to the stored
 * hash before it, which the stretch before it has checked.
 */
import type { Claim } from './evidence.ts'
import { type Asked, type Chain, EMPTY_WALK, type Walk, walkEntries, type Walker } from './walk.ts'

export interface WalkersOptions {
  /** How to start this executable with the verb `audit-worker`. */
  command: readonly string[]
  /** The database file. */
  path: string
  /** Stretches walked at once. */
  width: number
  /** Shorter chains are walked here: a child takes some 30 ms to start. */
  entries_min?: number
}

/** What a child is given, as one JSON document on standard input. */
export interface WalkJob {
  path: string
  chain: Chain
  range: Asked['range']
  /** Hex. */
  before: string | null
  last: number
  claims: Claim[]
}

/** What it answers, as one JSON document on standard output. */
export type WalkAnswer = Omit<Walk, 'last_hash'> & { last_hash: string | null }

const ENTRIES_MIN = 50_000

export function createWalkers({ command, path, width, entries_min = ENTRIES_MIN }: WalkersOptions): Walker {
  /** One chain at a time: more would only take the processors from each other. */
  let running: Promise<unknown> = Promise.resolve()

  async function inChild(job: WalkJob): Promise<Walk> {
    const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
    await child.stdin.write(JSON.stringify(job))
    await child.stdin.end()
    const text = await new Response(child.stdout).text()
    await child.exited
    const answer = JSON.parse(text) as WalkAnswer
    return { ...answer, last_hash: answer.last_hash === null ? null : Buffer.from(answer.last_hash, 'hex') }
  }

  return async (source, chain, asked) => {
    const { from_seq, to_seq } = asked.range
    if (to_seq - from_seq < entries_min) return walkEntries(source, chain, asked)
    const parts = split(asked, width)
    const walked = running.then(() =>
      Promise.all(
        parts.map((part) => {
          const before = part.before === null ? null : Buffer.from(part.before).toString('hex')
          // A child that could not be started, or was killed, says nothing about the log.
          return inChild({ ...part, path, chain, before, claims: [...part.claims] }).catch(() =>
            walkEntries(source, chain, part),
          )
        }),
      ),
    )
    running = walked.catch(() => undefined)
    return join(await walked)
  }
}

function split(asked: Asked, width: number): Asked[] {
  const { range, before, last, claims } = asked
  const step = Math.ceil((range.to_seq - range.from_seq + 1) / width)
  const parts: Asked[] = []
  for (let from_seq = range.from_seq; from_seq <= range.to_seq; from_seq += step) {
    const to_seq = Math.min(from_seq + step - 1, range.to_seq)
    parts.push({
      range: { from_seq, to_seq },
      before: from_seq === range.from_seq ? before : null,
      last,
      claims: claims.filter(({ seq }) => seq >= from_seq && seq <= to_seq),
    })
  }
  return parts
}

/** As if it had been walked in one go: what comes after the first that is wrong does not count. */
function join(walks: readonly Walk[]): Walk {
  const whole: Walk = { ...EMPTY_WALK }
  for (const walk of walks) {
    whole.checked += walk.checked
    whole.redacted += walk.redacted
    whole.anchor = walk.anchor ?? whole.anchor
    if (walk.bad !== null) return { ...whole, bad: walk.bad, against: walk.against, last_hash: null }
    whole.last_hash = walk.last_hash
  }
  return whole
}
