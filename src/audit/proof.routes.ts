import { Elysia } from 'elysia'
import type { Guard } from '../http/guard.ts'
import type { Pager } from '../http/pagination.ts'
import { op, Page } from '../http/schema.ts'
import type { Checkpoints } from './checkpoints.ts'
import { Checkpoint, CheckpointListQuery, PublicKey } from './schema.ts'

interface Deps {
  guard: Guard
  pager: Pager
  checkpoints: Checkpoints
}

/** `/v1/audit`, the part that an outsider verifies the log with. */
export const auditProofRoutes = (deps: Deps) =>
  new Elysia({ name: 'audit-proof', prefix: '/v1/audit', tags: ['Audit'], normalize: false })
    .use(deps.guard)
    .get(
      '/checkpoints',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'audit-checkpoints', query)
        const before = page.after === null ? null : Number(page.after[0])
        const rows = await deps.checkpoints.list(principal.tenant_id, { before, limit: page.limit + 1 })
        return page.finish(rows, (row) => [row.n])
      },
      {
        query: CheckpointListQuery,
        ...op('audit:read', {
          summary: 'List the signed checkpoints of the log',
          description:
            'Newest first. One every minute with news and one every hour without. Keep a `line` somewhere else, and the log up to it can never be changed unseen.',
          answers: { 200: { schema: Page(Checkpoint) } },
        }),
      },
    )
    .get(
      '/public-key',
      () => deps.checkpoints.publicKey(),
      op('audit:read', {
        summary: 'Read the key that signs the log',
        description: 'Write its fingerprint down: who knows it cannot be shown a log signed by another.',
        answers: { 200: { schema: PublicKey } },
      }),
    )
