/** Every verb. What a verb needs to run it loads itself: `version` must not wait for a web framework. */
import { ACCESS_VERBS } from './access.verbs.ts'
import { CARE_VERBS } from './care.verbs.ts'
import { IMPORT_VERBS } from './import.verbs.ts'
import type { Verb } from './verb.ts'
import { VERSION } from './version.ts'

const SERVER_VERBS: readonly Verb[] = [
  {
    name: 'serve',
    summary: 'Run the server.',
    operands_min: 0,
    operands_max: 0,
    flags: [],
    async run(context) {
      const { serve } = await import('./serve.ts')
      return serve(context)
    },
  },
  {
    name: 'demo',
    summary: 'Run the server with a demo tenant and months of made-up reports, in ./wardpost-demo.',
    operands_min: 0,
    operands_max: 0,
    flags: [],
    async run(context) {
      const { serveDemo } = await import('./serve.ts')
      return serveDemo(context)
    },
  },
]

const VERSION_VERB: Verb = {
  name: 'version',
  summary: 'Show the version.',
  operands_min: 0,
  operands_max: 0,
  flags: [],
  async run({ io, json }) {
    const { platform, arch } = process
    io.out(
      json
        ? JSON.stringify({ version: VERSION, bun: Bun.version, platform, arch })
        : `wardpost ${VERSION} (Bun ${Bun.version}, ${platform}-${arch})`,
    )
    return 0
  },
}

export const VERBS: readonly Verb[] = [
  ...SERVER_VERBS,
  ...ACCESS_VERBS,
  ...IMPORT_VERBS,
  ...CARE_VERBS,
  VERSION_VERB,
]
