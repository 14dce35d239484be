import { Elysia, t } from 'elysia'
import type { Guard } from '../http/guard.ts'
import { op, Page } from '../http/schema.ts'
import type { Principal } from '../lib/principal.ts'
import type { Pager } from '../http/pagination.ts'
import {
  Backup,
  type BackupDto,
  Instance,
  type InstanceDto,
  Job,
  type JobDto,
  JobName,
  JobRun,
  type JobRunDto,
  JobRunsQuery,
  JobStarted,
  type JobStartedDto,
} from './schema.ts'

export interface InstancePorts {
  show(): Promise<InstanceDto>
  backups: { list(): Promise<BackupDto[]>; create(principal: Principal): Promise<BackupDto> }
  jobs: {
    list(): Promise<JobDto[]>
    /** Throws `not_found`, or `conflict` while it runs. */
    run(principal: Principal, name: string): Promise<JobStartedDto>
    /** Newest first. Throws `not_found`. */
    runs(name: string, page: { before: string | null; limit: number }): Promise<JobRunDto[]>
  }
}

/** `/v1/instance`: the installation, its backups and jobs. */
export const instanceRoutes = (deps: { guard: Guard; instance: InstancePorts; pager: Pager }) =>
  new Elysia({ name: 'instance', prefix: '/v1/instance', tags: ['Instance'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      () => deps.instance.show(),
      op('instance:read', {
        summary: 'Version, data folder, TLS and settings of this installation',
        answers: { 200: { schema: Instance } },
      }),
    )
    .get(
      '/backups',
      async () => ({ items: await deps.instance.backups.list() }),
      op('instance:read', {
        summary: 'List backups',
        answers: { 200: { schema: Page(Backup) } },
      }),
    )
    .post(
      '/backups',
      async ({ principal, set }) => {
        set.status = 201
        return deps.instance.backups.create(principal)
      },
      op('instance:write', {
        summary: 'Make a backup now',
        description: 'While everything goes on. The copy is verified before the answer.',
        answers: { 201: { schema: Backup } },
        problems: ['conflict'],
      }),
    )
    .get(
      '/jobs',
      async () => ({ items: await deps.instance.jobs.list() }),
      op('instance:read', {
        summary: 'List the jobs with their last and next run',
        answers: { 200: { schema: t.Object({ items: t.Array(Job) }) } },
      }),
    )
    .post(
      '/jobs/:name/run',
      async ({ principal, params, set }) => {
        set.status = 202
        return deps.instance.jobs.run(principal, params.name)
      },
      {
        params: JobName,
        ...op('instance:write', {
          summary: 'Run a job now',
          description: 'Answers when it has begun; how it ends is in its runs.',
          answers: { 202: { schema: JobStarted } },
          problems: ['conflict'],
        }),
      },
    )
    .get(
      '/jobs/:name/runs',
      async ({ principal, params, query }) => {
        const page = deps.pager.read(principal, 'job-runs', query, { name: params.name })
        const before = page.after === null ? null : String(page.after[0])
        const rows = await deps.instance.jobs.runs(params.name, { before, limit: page.limit + 1 })
        return page.finish(rows, (row) => [row.id])
      },
      {
        params: JobName,
        query: JobRunsQuery,
        ...op('instance:read', {
          summary: 'List the runs of a job',
          description: 'Newest first. The last 1,000 of 90 days are kept.',
          answers: { 200: { schema: Page(JobRun) } },
        }),
      },
    )
