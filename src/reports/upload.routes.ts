import { Elysia } from 'elysia'
import type { Guard } from '../http/guard.ts'
import { op } from '../http/schema.ts'
import { problem } from '../lib/errors.ts'
import type { Ingest } from './ingest.ts'
import { UploadResult } from './schema.ts'
import { receiveUpload } from './upload.ts'

/** A slow line may take this long for a whole upload, seconds. */
const UPLOAD_SECONDS_MAX = 255

const binary = { type: 'string', format: 'binary' }

/** `POST /v1/reports/upload`. */
export const uploadRoutes = (deps: { guard: Guard; ingest: Ingest; tempPath: () => string }) =>
  new Elysia({ name: 'reports-upload', prefix: '/v1/reports', tags: ['Reports'], normalize: false })
    .use(deps.guard)
    .post(
      '/upload',
      async ({ principal, request, server, set }) => {
        server?.timeout(request, UPLOAD_SECONDS_MAX)
        const files = await receiveUpload(request, deps.tempPath)
        const source = principal.kind === 'key' ? 'api' : 'upload'
        const results = await deps.ingest.upload(principal.actor, source, files)
        const statuses = new Set(results.flatMap((file) => file.reports.map((report) => report.status)))
        if (statuses.has('created') || statuses.has('revision')) set.status = 201
        else if (!statuses.has('duplicate')) {
          const [first] = results.flatMap((file) => file.reports)
          throw problem('upload_rejected', first?.detail, { extra: { results } })
        }
        return { results }
      },
      {
        parse: 'none',
        ...op('reports:write', {
          summary: 'Upload report files',
          description:
            'XML, ZIP, GZIP, JSON (TLS-RPT) or mail (.eml), told by the bytes; several files in one form, several ' +
            'reports in one file. 201 when a report was created or revised, 200 when all were there already, 422 ' +
            '(with `results`) when none could be accepted. At most 25 MiB a file, 100 files and 100 MB a request.',
          answers: {
            200: { schema: UploadResult, description: 'All reports were there already.' },
            201: { schema: UploadResult, description: 'Something was created or revised.' },
          },
          problems: ['upload_rejected', 'validation_failed', 'invalid_request', 'overloaded'],
          no_idempotency: true,
          request_body: {
            required: true,
            content: {
              'multipart/form-data': {
                schema: {
                  type: 'object',
                  required: ['file'],
                  properties: { file: { type: 'array', items: binary } },
                },
              },
              'application/octet-stream': { schema: binary },
              'application/xml': { schema: { type: 'string' } },
              'application/gzip': { schema: binary },
              'application/zip': { schema: binary },
            },
          },
        }),
      },
    )
