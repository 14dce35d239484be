import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  callControl,
  CommandFailed,
  type ControlServer,
  controlPath,
  type Dispatch,
  listenControl,
} from '../../src/cli/control.ts'
import { invalid } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/log.ts'
import { tempDir } from '../support/db.ts'

const dispatch: Dispatch = async (command, args, progress, files) => {
  if (command === 'echo') return args
  if (command === 'take') {
    const taken: [string, number, number][] = []
    for await (const { name, content } of files) {
      taken.push([name, content.length, content.at(-1) ?? -1])
      progress(taken.length)
    }
    return taken
  }
  if (command === 'take one') {
    for await (const { name } of files) return name
  }
  if (command === 'steps') {
    for (const step of [1, 2, 3]) progress({ step })
    return 'done'
  }
  if (command === 'invalid') throw invalid('/name', 'invalid_name', 'The name is too short.')
  if (command === 'silent') return undefined
  throw new Error('broken inside')
}

let dir: string
let server: ControlServer | null

beforeEach(async () => {
  dir = tempDir()
  server = await listenControl(dir, dispatch, silentLog)
})
afterEach(async () => {
  await server?.close()
  rmSync(dir, { recursive: true })
})

const call = (command: string, args: unknown = null, seen: unknown[] = []) =>
  callControl(dir, command, args, (value) => seen.push(value))

const failure = (command: string): Promise<unknown> => call(command).catch((error: unknown) => error)

describe('control socket', () => {
  test('carries a command and its answer', async () => {
    const args = { text: 'Grüße\nfrom below', list: [1, null] }
    expect(await call('echo', args)).toEqual({ result: args })
    expect(await call('silent')).toEqual({ result: null })
  })

  test('carries what is as large as an upload', async () => {
    const text = 'é'.repeat(3_000_000)
    expect((await call('echo', { text }))!.result).toEqual({ text })
  })

  test('tells of progress before the end', async () => {
    const seen: unknown[] = []
    expect(await call('steps', null, seen)).toEqual({ result: 'done' })
    expect(seen).toEqual([{ step: 1 }, { step: 2 }, { step: 3 }])
  })

  test('carries files, as fast as they are taken', async () => {
    async function* files() {
      for (let i = 0; i < 200; i++)
        yield { name: `${i}.xml`, content: new Uint8Array(10_000 * (i % 5)).fill(i) }
    }
    const seen: unknown[] = []
    const { result } = (await callControl(dir, 'take', null, (value) => seen.push(value), files()))!
    expect(result).toEqual(
      Array.from({ length: 200 }, (_, i) => [`${i}.xml`, 10_000 * (i % 5), i % 5 === 0 ? -1 : i]),
    )
    expect(seen).toHaveLength(200)
  })

  test('a command that takes less than is sent still answers', async () => {
    async function* files() {
      for (let i = 0; i < 50; i++) yield { name: `${i}.xml`, content: new Uint8Array(500_000) }
    }
    expect(await callControl(dir, 'take one', null, () => {}, files())).toEqual({ result: '0.xml' })
    const started = performance.now()
    await server!.close()
    server = null
    expect(performance.now() - started).toBeLessThan(500)
  })

  test('a file that cannot be read on this side is an error here', async () => {
    async function* files() {
      yield { name: 'a', content: new Uint8Array(1) }
      throw new Error('no such file')
    }
    const error = await callControl(dir, 'take', null, () => {}, files()).catch((caught: Error) => caught)
    expect((error as Error).message).toBe('no such file')
  })

  test('answers many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => call('echo', i)))
    expect(answers.map((answer) => answer!.result)).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })

  test('hands on problems with their code, and bugs as internal', async () => {
    const problem = (await failure('invalid')) as CommandFailed
    expect(problem).toBeInstanceOf(CommandFailed)
    expect([problem.code, problem.message]).toEqual(['validation_failed', 'The name is too short.'])
    expect((await failure('nonsense')) as CommandFailed).toMatchObject({ code: 'internal' })
  })

  test('is for its owner alone and goes when the server goes', async () => {
    expect(statSync(controlPath(dir)).mode & 0o777).toBe(0o600)
    await server!.close()
    server = null
    expect(existsSync(controlPath(dir))).toBe(false)
    expect(await call('echo')).toBeNull()
  })

  test('a socket nobody listens on means that no server runs, and the next server takes its place', async () => {
    await server!.close()
    writeFileSync(controlPath(dir), '')
    expect(await call('echo')).toBeNull()
    server = await listenControl(dir, dispatch, silentLog)
    expect(await call('echo', 1)).toEqual({ result: 1 })
  })

  test('a data folder with a very long path has one too', async () => {
    const deep = join(dir, 'x'.repeat(120), 'y'.repeat(120))
    mkdirSync(deep, { recursive: true })
    const other = await listenControl(deep, dispatch, silentLog)
    expect(await callControl(deep, 'echo', 2, () => {})).toEqual({ result: 2 })
    await other.close()
  })
})
