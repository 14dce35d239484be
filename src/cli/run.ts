/** The command line: finds the verb, reads settings and flags, runs it, and turns what happens into an exit code. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, describeSettings, readConfig, type SettingView } from '../config.ts'
import { type Flag, parseArgs } from './args.ts'
import { callControl, CommandFailed, explain, type Files, noFiles, type Progress } from './control.ts'
import { type Io, UsageError, type Verb, type VerbContext } from './verb.ts'
import { VERBS } from './verbs.ts'

const JSON_FLAG: Flag = { name: 'json', doc: 'Answer one JSON document on standard output.' }
const HELP_FLAG: Flag = { name: 'help', doc: 'Show this.' }
/** A server that is just starting has the lock before it listens. */
const STARTING_MS = 3000

/** The one command that may begin a data folder. */
const MAKES_FOLDER = 'tenant.create'

export type Env = Readonly<Record<string, string | undefined>>

/** Exit code: 0 done, 1 failed, 2 the command line or a setting is wrong. */
export async function run(argv: readonly string[], env: Env, io: Io): Promise<number> {
  const bare = argv[0] === undefined || argv[0].startsWith('-')
  if (argv[0] === 'help' || (bare && argv.includes('--help'))) return show(io, overview())
  const words = bare ? ['serve', ...argv] : [...argv]
  const verb = findVerb(words)
  if (verb === undefined) return usage(io, `there is no command '${words.slice(0, 2).join(' ')}'`)
  const tokens = words.slice(verb.name.split(' ').length)
  if (tokens.includes('--help')) return show(io, helpOf(verb))
  const read = readConfig(tokens, env)
  if (!read.ok) {
    for (const problem of read.problems) io.err(`wardpost: ${problem}`)
    return 2
  }
  const parsed = parseArgs(read.rest, [...verb.flags, JSON_FLAG, HELP_FLAG])
  if (!parsed.ok) return usage(io, parsed.problem, verb)
  const { flags, positionals } = parsed.args
  if (positionals.length > verb.operands_max) return usage(io, `'${positionals.at(-1)}' is too much`, verb)
  if (positionals.length < verb.operands_min) return usage(io, `${verb.operands} is missing`, verb)
  const context: VerbContext = {
    config: read.config,
    settings: read.settings,
    io,
    json: flags.has('json'),
    positionals,
    flag: (name) => flags.get(name),
    call: (command, args, progress = () => {}, files = noFiles()) =>
      call(read, { command, args, progress, files }, io) as Promise<never>,
  }
  return attempt(verb, context)
}

async function attempt(verb: Verb, context: VerbContext): Promise<number> {
  try {
    return await verb.run(context)
  } catch (error) {
    if (error instanceof UsageError) return usage(context.io, error.message, verb)
    const message = explain(error)
    context.io.err(`wardpost: ${message}`)
    const code = (error as { code?: unknown }).code
    if (context.json) {
      context.io.out(JSON.stringify({ error: { code: typeof code === 'string' ? code : 'failed', message } }))
    }
    return 1
  }
}

interface Call {
  command: string
  args: unknown
  progress: Progress
  files: Files
}

/** In the running server, or here. */
async function call(
  settings: { config: Config; settings: SettingView[] },
  wanted: Call,
  io: Io,
): Promise<unknown> {
  const { data } = settings.config
  const answered = await callServer(data, wanted)
  if (answered !== null) return answered.result
  if (wanted.command !== MAKES_FOLDER && !existsSync(join(data, 'wardpost.db'))) {
    throw new CommandFailed('no_data_folder', `there is no data folder at ${data}; --data says where it is`)
  }
  const { openProduct, DataFolderLocked } = await import('./product.ts')
  const opened = await openProduct(settings, { log: io.err, quiet: true }).catch((error: unknown) => {
    if (error instanceof DataFolderLocked) return null
    throw error
  })
  if (opened === null) return callStarting(data, wanted)
  try {
    return await opened.dispatch(wanted.command, wanted.args, wanted.progress, wanted.files)
  } finally {
    await opened.close()
  }
}

function callServer(data: string, { command, args, progress, files }: Call) {
  return callControl(data, command, args, progress, files)
}

async function callStarting(data: string, wanted: Call): Promise<unknown> {
  for (let waited = 0; waited < STARTING_MS; waited += 100) {
    const answered = await callServer(data, wanted)
    if (answered !== null) return answered.result
    await Bun.sleep(100)
  }
  throw new CommandFailed('data_folder_locked', `another process holds ${data} and does not answer`)
}

function findVerb(words: readonly string[]): Verb | undefined {
  const two = words.slice(0, 2).join(' ')
  return VERBS.find((verb) => verb.name === two) ?? VERBS.find((verb) => verb.name === words[0])
}

function show(io: Io, text: string): number {
  io.out(text)
  return 0
}

function usage(io: Io, problem: string, verb?: Verb): number {
  io.err(`wardpost: ${problem}`)
  io.err(`See 'wardpost ${verb === undefined ? '' : `${verb.name} `}--help'.`)
  return 2
}

function overview(): string {
  const width = Math.max(...VERBS.map((verb) => verb.name.length))
  return [
    'Wardpost: one self-hosted executable for the e-mail security of a small team.',
    '',
    'Usage: wardpost [COMMAND] [OPTIONS]',
    '',
    'Commands (serve is the default):',
    ...VERBS.map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`),
    '',
    'Every command takes --json, --help and the settings below, as flags or in the environment.',
    '',
    settingsHelp(),
  ].join('\n')
}

function helpOf(verb: Verb): string {
  const flags = [...verb.flags, JSON_FLAG, HELP_FLAG]
  const left = flags.map((flag) => `--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`)
  const width = Math.max(...left.map((text) => text.length))
  return [
    verb.summary,
    '',
    `Usage: wardpost ${verb.name}${verb.operands === undefined ? '' : ` ${verb.operands}`} [OPTIONS]`,
    '',
    'Options:',
    ...flags.map((flag, i) => `  ${left[i]!.padEnd(width)}  ${flag.doc}${flag.required ? ' (needed)' : ''}`),
    '',
    verb.name === 'serve' || verb.name === 'demo'
      ? settingsHelp()
      : 'The data folder is --data DIR or WARDPOST_DATA, otherwise ./wardpost-data.',
  ].join('\n')
}

function settingsHelp(): string {
  const rows = describeSettings()
  const width = Math.max(...rows.map((row) => row.flag.length))
  const indent = ' '.repeat(width + 4)
  return [
    'Settings:',
    ...rows.map((row) => {
      const fallback = row.default === null ? '' : ` Default: ${row.default}.`
      return `  ${row.flag.padEnd(width)}  ${row.doc}${fallback}\n${indent}${row.env}`
    }),
  ].join('\n')
}
