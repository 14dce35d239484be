/** Backup, restore, doctor, the audit log: care for an installation. */
import type { Vitals } from './doctor.ts'
import { table, UsageError, type Verb } from './verb.ts'

export interface ChainCheck {
  tenant_id: string
  ok: boolean
  checked: number
  verdicts: Record<string, string>
  unanchored: number
  first_bad?: { seq: number; kind: string; detail: string } | undefined
}

export interface MadeBackup {
  path: string
  bytes: number
  sha256: string
  verified: boolean
}

export const CARE_VERBS: readonly Verb[] = [
  {
    name: 'backup',
    summary: 'Make a verified backup, also while the server runs.',
    operands: '[FOLDER]',
    operands_min: 0,
    operands_max: 1,
    flags: [
      { name: 'with-key', doc: 'Put instance.key in it: whoever has the backup can then open its secrets.' },
    ],
    async run({ call, flag, positionals, io, json }) {
      const { resolve } = await import('node:path')
      const folder = positionals[0] === undefined ? null : resolve(positionals[0])
      const made = await call<MadeBackup>('backup', { folder, with_key: flag('with-key') !== undefined })
      io.out(json ? JSON.stringify(made) : `${made.path}\n${made.bytes} bytes, SHA-256 ${made.sha256}`)
      return 0
    },
  },
  {
    name: 'restore',
    summary: 'Restore a backup into an empty data folder (--data). No server may run on it.',
    operands: 'BACKUP',
    operands_min: 1,
    operands_max: 1,
    flags: [],
    async run({ config, positionals, io, json }) {
      const { restoreInto } = await import('./restore.ts')
      const done = await restoreInto(positionals[0]!, config.data)
      if (json) io.out(JSON.stringify(done))
      else {
        io.out(`Restored into ${config.data}: the state of ${done.created_at}, ${done.blobs} originals.`)
        for (const warning of done.warnings) io.err(`wardpost: ${warning}`)
      }
      return 0
    },
  },
  {
    name: 'doctor',
    summary: 'Look for what is wrong: files, rights, database, audit chains, disk.',
    operands_min: 0,
    operands_max: 0,
    flags: [],
    async run({ call, config, io, json }) {
      const vitals = await call<Vitals>('vitals', {})
      const { examine } = await import('./doctor.ts')
      const findings = examine(config.data, vitals)
      const ok = findings.every((each) => each.status !== 'failed')
      if (json) io.out(JSON.stringify({ ok, findings }))
      else {
        const rows = findings.map((each) => [each.status, each.name, each.detail])
        io.out(table(['', 'CHECK', ''], rows))
      }
      return ok ? 0 : 1
    },
  },
  {
    name: 'audit verify',
    summary: 'Verify the hash chains of the audit log, or a bundle of evidence without any data folder.',
    operands: '[BUNDLE]',
    operands_min: 0,
    operands_max: 1,
    flags: [
      { name: 'tenant', value: 'ID', doc: 'Only this chain (_system is that of the installation).' },
      { name: 'key', value: 'FINGERPRINT', doc: 'Of a bundle: the signing key as you know it.' },
      {
        name: 'against',
        value: 'FILE',
        doc: 'Signed lines that were kept elsewhere: checkpoints.log, or what was sent.',
      },
    ],
    async run({ call, flag, positionals, io, json }) {
      const { checkBundle, shown, signedLines } = await import('./audit.ts')
      const against = flag('against')
      const given = against === undefined ? [] : await signedLines(against)
      if (positionals[0] !== undefined) {
        const verdict = await checkBundle(positionals[0], flag('key'), given)
        io.out(json ? JSON.stringify(verdict) : shown(verdict))
        return verdict.ok ? 0 : 1
      }
      if (flag('key') !== undefined) throw new UsageError('--key is for a bundle')
      const { chains } = await call<{ chains: ChainCheck[] }>('audit.verify', {
        tenant: flag('tenant') ?? null,
        given,
      })
      const ok = chains.every((each) => each.ok)
      if (json) io.out(JSON.stringify({ ok, chains }))
      else {
        const rows = chains.map((each) => [
          each.ok ? 'ok' : 'BAD',
          each.tenant_id,
          `${each.checked} entries`,
          each.unanchored === 0 ? 'signed to the end' : `${each.unanchored} not signed yet`,
          each.first_bad === undefined
            ? ''
            : `entry ${each.first_bad.seq} is ${each.first_bad.kind}: ${each.first_bad.detail}`,
        ])
        io.out(table(['', 'CHAIN', 'CHECKED', 'SIGNED', ''], rows))
      }
      return ok ? 0 : 1
    },
  },
]
