/** Flags of the verbs: `--name value`, `--name=value`, `--json`. Settings were taken out before (config.ts). */
export interface Flag {
  name: string
  /** What stands for the value in the help; absent for a switch. */
  value?: string
  doc: string
  required?: true
}

export interface ParsedArgs {
  /** Values by flag name; a switch that is on has the value ''. */
  flags: Map<string, string>
  positionals: string[]
}

export type ArgsResult = { ok: true; args: ParsedArgs } | { ok: false; problem: string }

/** Everything after `--` is positional. Unknown, repeated and missing flags are a usage error that names them. */
export function parseArgs(tokens: readonly string[], flags: readonly Flag[]): ArgsResult {
  const out: ParsedArgs = { flags: new Map(), positionals: [] }
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    if (token === '--') {
      out.positionals.push(...tokens.slice(i + 1))
      break
    }
    if (!token.startsWith('-') || token === '-') {
      out.positionals.push(token)
      continue
    }
    const equals = token.indexOf('=')
    const name = (equals < 0 ? token : token.slice(0, equals)).replace(/^--/, '')
    const flag = flags.find((each) => each.name === name)
    if (flag === undefined || !token.startsWith('--')) return wrong(`unknown option ${token.split('=')[0]}`)
    if (out.flags.has(name)) return wrong(`--${name} is given twice`)
    if (flag.value === undefined) {
      if (equals >= 0) return wrong(`--${name} takes no value`)
      out.flags.set(name, '')
      continue
    }
    const value = equals < 0 ? tokens[++i] : token.slice(equals + 1)
    if (value === undefined || value === '') return wrong(`--${name} needs a value`)
    out.flags.set(name, value)
  }
  const missing = flags.find((flag) => flag.required === true && !out.flags.has(flag.name))
  return missing === undefined ? { ok: true, args: out } : wrong(`--${missing.name} is needed`)
}

function wrong(problem: string): ArgsResult {
  return { ok: false, problem }
}
