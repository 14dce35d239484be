/** Counts what comes in, for the metrics: a decorator, so that the way in knows nothing of them. */
import type { Ingest } from './ingest.ts'
import type { FileOutcome } from './outcomes.ts'

/** `add` gets the kind of the file and what became of a report in it. */
export function countIngest(ingest: Ingest, add: (kind: string, status: string) => void): Ingest {
  const count = (outcome: FileOutcome): void => {
    for (const { status } of outcome.reports) add(outcome.kind, status)
  }
  return {
    ...ingest,
    async upload(actor, source, files) {
      const outcomes = await ingest.upload(actor, source, files)
      outcomes.forEach(count)
      return outcomes
    },
    run: (actor, source, action, told) =>
      ingest.run(actor, source, action, (outcome) => {
        count(outcome)
        told(outcome)
      }),
  }
}
