import { Elysia, t } from 'elysia'
import type { Guard } from '../http/guard.ts'
import { op, Page } from '../http/schema.ts'
import type { Principal } from '../lib/principal.ts'
import { Backup, type BackupDto, Instance, type InstanceDto, Job, type JobDto } from './schema.ts'

export interface InstancePorts {
  show(): Promise<InstanceDto>
  backups: { list(): Promise<BackupDto[]>; create(principal: Principal): Promise<BackupDto> }
  jobs: { list(): Promise<JobDto[]> }
}

/** `/v1/instance`: the installation, its backups and jobs. */
export const instanceRoutes = (deps: { guard: Guard; instance: InstancePorts }) =>
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
