/** Reads argv and the environment, and nobody else does. Hidden verbs come first: they must start fast. */

/** The process ends when the verb has; what it still holds open does not keep it. */
async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === 'backup-worker') {
    const { runBackupWorker } = await import('./db/backup.ts')
    return runBackupWorker(argv.slice(1))
  }
  if (argv[0] === 'audit-worker') {
    const { runAuditWorker } = await import('./audit/worker.ts')
    return runAuditWorker()
  }
  if (argv[0] === 'sandbox') {
    const { runSandboxChild } = await import('./sandbox/child.ts')
    runSandboxChild()
    return 0
  }
  const { run } = await import('./cli/run.ts')
  return run(argv, process.env, {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
  })
}

// Whoever read our output may have gone; that is no failure of ours.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.exit(await main(process.argv.slice(2)))
