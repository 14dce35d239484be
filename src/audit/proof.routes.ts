import { Elysia, t } from 'elysia'
import type { Guard } from '../http/guard.ts'
import type { Pager } from '../http/pagination.ts'
import { op, Page } from '../http/schema.ts'
import type { Bundles } from './bundles.ts'
import type { Erasure } from './erase.ts'
import type { Checkpoints } from './checkpoints.ts'
import { byteStream, readSeqRange } from './ranges.ts'
import { BundleQuery, Checkpoint, CheckpointListQuery, Erase, Erased, PublicKey } from './schema.ts'

interface Deps {
  guard: Guard
  pager: Pager
  checkpoints: Checkpoints
  bundles: Bundles
  erasure: Erasure
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
    .get(
      '/bundle',
      async ({ principal, query, request, server }) => {
        const { name, bytes } = await deps.bundles.export(principal.actor, readSeqRange(query))
        // A reader may take its time.
        server?.timeout(request, 0)
        return new Response(byteStream(bytes), {
          headers: {
            'content-type': 'application/zip',
            'content-disposition': `attachment; filename="${name}"`,
          },
        })
      },
      {
        query: BundleQuery,
        ...op('audit:read', {
          summary: 'Export evidence that anybody can verify',
          description:
            'A ZIP with the exact bytes of the entries, the signed checkpoints, the public key, a signed manifest and a script in plain Python that verifies all of it. `wardpost audit verify FILE` gives the same verdicts.',
          answers: {
            200: {
              description: 'The archive.',
              content: { 'application/zip': { schema: t.String({ format: 'binary' }) } },
            },
          },
          problems: ['not_found'],
        }),
      },
    )
    .post('/erase', ({ principal, body }) => deps.erasure.erase(principal, body), {
      parse: 'json',
      body: Erase,
      ...op('settings:write', {
        summary: 'Erase the personal values of one person',
        description:
          'Names, addresses and other personal values beside the entries of the log are removed for good. The chain stays whole; verification counts these entries as redacted. Backups keep them until they are rotated.',
        answers: { 200: { schema: Erased } },
        problems: ['insufficient_role'],
        body_example: { subject: { email: 'ada@example.com' } },
      }),
    })
