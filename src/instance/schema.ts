import { t } from 'elysia'
import { Int, IsoTime, Literals, Nullable, PageQuery } from '../http/schema.ts'

const Scalar = t.Union([t.String(), t.Number(), t.Boolean(), t.Null()])

export const Instance = t.Object(
  {
    version: t.String(),
    started_at: IsoTime,
    instance_id: t.String(),
    base_url: t.String(),
    data: t.Object({
      path: t.String(),
      database_bytes: Int(),
      blobs_bytes: Nullable(Int()),
      free_bytes: Nullable(Int()),
    }),
    tls: t.Object({
      mode: t.String(),
      fingerprint: Nullable(t.String()),
      not_after: Nullable(IsoTime),
    }),
    resolver: t.Object({ mode: t.String(), detail: t.String() }),
    settings: t.Array(
      t.Object({
        name: t.String(),
        env: t.String(),
        flag: t.String(),
        value: Scalar,
        default: Scalar,
        source: Literals(['default', 'environment', 'flag']),
        doc: t.String(),
        secret: t.Boolean(),
      }),
    ),
  },
  { title: 'Instance' },
)
export type InstanceDto = typeof Instance.static

export const Backup = t.Object(
  {
    name: t.String(),
    bytes: Int(),
    created_at: IsoTime,
    verified: t.Boolean(),
    kind: Literals(['nightly', 'manual', 'migration']),
    sha256: t.String(),
  },
  { title: 'Backup' },
)
export type BackupDto = typeof Backup.static

export const Job = t.Object(
  {
    name: t.String(),
    schedule: t.String(),
    last_run_at: Nullable(IsoTime),
    last_status: Nullable(Literals(['running', 'ok', 'failed', 'interrupted'])),
    last_detail: Nullable(t.String()),
    last_ms: Nullable(t.Number()),
    next_run_at: Nullable(IsoTime),
    running: t.Boolean(),
  },
  { title: 'Job' },
)
export type JobDto = typeof Job.static

export const JobName = t.Object({ name: t.String({ maxLength: 64, examples: ['backup'] }) })

export const JobStarted = t.Object(
  { name: t.String(), status: Literals(['started']) },
  { title: 'JobStarted' },
)
export type JobStartedDto = typeof JobStarted.static

export const JobRun = t.Object(
  {
    id: t.String({ examples: ['job_01k3v8q2m7x0c9tbe4h6ynp5rz'] }),
    status: Literals(['running', 'ok', 'failed', 'interrupted']),
    detail: Nullable(t.String({ description: 'What it did, or why it failed.' })),
    started_at: IsoTime,
    ended_at: Nullable(IsoTime),
    ms: Nullable(t.Number()),
  },
  { title: 'JobRun' },
)
export type JobRunDto = typeof JobRun.static

export const JobRunsQuery = t.Object({ ...PageQuery })
