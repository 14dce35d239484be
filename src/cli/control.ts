/**
 * How a command reaches the server that holds the data folder: `DATA/control.sock` (mode 0600, in a folder of mode
 * 0700), on Windows a named pipe. Whoever can open it may do everything; the file system decides who that is.
 *
 * One JSON object a line. From the client `{command, args}`, then, for commands that take files, `{name, bytes}` each
 * (base64) and `{end: true}`; back `{progress}` any number of times, then `{result}` or `{error: {code, message}}`. One
 * command a connection.
 */
import { chmodSync, existsSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { sha256Hex } from '../lib/crypto.ts'
import { Problem } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'

export type Progress = (value: unknown) => void

/** A file that a command takes in. */
export interface SentFile {
  name: string
  content: Uint8Array
}

/** The files of a command; empty for most. Read once, as fast as the command takes them. */
export type Files = AsyncIterable<SentFile>

/** Runs a command by name. Rejects with a `Problem` for the caller, or with a bug. */
export type Dispatch = (command: string, args: unknown, progress: Progress, files: Files) => Promise<unknown>

export async function* noFiles(): AsyncGenerator<SentFile> {}

/** The server said no; `code` is that of the problem. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** A file to import is the largest thing sent: 100 MB in base64 and its frame. */
const LINE_CHARS_MAX = 150_000_000
/** `sun_path` of the system: 104 on macOS, 108 on Linux, with the final zero. */
const SOCKET_PATH_BYTES_MAX = 100

/** Where the socket of a data folder is. A path too long for the system is shortened, the same way on both sides. */
export function controlPath(data_dir: string): string {
  const absolute = resolve(data_dir)
  const digest = sha256Hex(absolute).slice(0, 24)
  if (process.platform === 'win32') return `\\\\.\\pipe\\wardpost-${digest}`
  const direct = join(absolute, 'control.sock')
  if (Buffer.byteLength(direct) <= SOCKET_PATH_BYTES_MAX) return direct
  return join(tmpdir(), `wardpost-${userInfo().uid}-${digest}.sock`)
}

export interface ControlServer {
  close(): Promise<void>
}

/** Listens. The caller holds the lock of the data folder, so a socket that is there already is a dead one. */
export async function listenControl(data_dir: string, dispatch: Dispatch, log: Log): Promise<ControlServer> {
  const path = controlPath(data_dir)
  const is_file = process.platform !== 'win32'
  if (is_file) rmSync(path, { force: true })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    void answer(socket, dispatch, log)
  })
  const mask = is_file ? process.umask(0o177) : 0
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed)
      server.listen(path, done)
    })
  } finally {
    if (is_file) process.umask(mask)
  }
  if (is_file) chmodSync(path, 0o600)
  return {
    async close() {
      const closed = new Promise<void>((done) => void server.close(() => done()))
      for (const socket of sockets) socket.end()
      await Promise.race([closed, Bun.sleep(1000)])
      if (is_file) rmSync(path, { force: true })
    },
  }
}

async function answer(socket: Socket, dispatch: Dispatch, log: Log): Promise<void> {
  const send = (value: unknown): void => void socket.write(`${JSON.stringify(value)}\n`)
  const lines = readLines(socket)
  try {
    const first = await lines.next()
    if (first.done === true) return
    const { command, args } = JSON.parse(first.value) as { command: string; args: unknown }
    log.debug('control command', { command })
    const result = await dispatch(command, args, (progress) => send({ progress }), receivedFiles(lines))
    send({ result: result ?? null })
  } catch (error) {
    if (!(error instanceof Problem)) log.error('control command failed', { error })
    const code = error instanceof Problem ? error.code : 'internal'
    send({ error: { code, message: explain(error) } })
  }
  socket.end()
  // What the client still sends is read away, so that it comes to reading the answer; then it closes.
  await skipRest(lines).catch(() => undefined)
}

async function skipRest(lines: AsyncIterator<string>): Promise<void> {
  while ((await lines.next()).done !== true);
}

async function* receivedFiles(lines: AsyncIterator<string>): AsyncGenerator<SentFile> {
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const sent = JSON.parse(line.value) as { name: string; bytes: string } | { end: true }
    if ('end' in sent) return
    yield { name: sent.name, content: Buffer.from(sent.bytes, 'base64') }
  }
  throw new Error('the client went away before it had sent everything')
}

async function sendFiles(socket: Socket, files: Files): Promise<void> {
  const send = async (value: unknown): Promise<void> => {
    if (!socket.write(`${JSON.stringify(value)}\n`)) await drained(socket)
  }
  for await (const { name, content } of files) {
    if (socket.destroyed) return
    await send({ name, bytes: Buffer.from(content).toString('base64') })
  }
  await send({ end: true })
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}

/** For the person at the terminal: a problem's detail and the members it names. */
export function explain(error: unknown): string {
  if (!(error instanceof Problem)) return explainFailure(error)
  const items = (error.options.errors ?? []).map((item) => item.detail)
  return [...new Set([error.detail, ...items])].join(' ')
}

/** What the system says about a file, in words. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path } = error as { code?: unknown; path?: unknown }
  if (typeof path !== 'string') return error.message
  if (code === 'ENOENT') return `there is no ${path}`
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be opened by this user`
  return error.message
}

/**
 * Asks the server of a data folder. Null when there is none (no socket, or nobody behind it). Throws `CommandFailed`
 * with what the server answered.
 */
export async function callControl(
  data_dir: string,
  command: string,
  args: unknown,
  progress: Progress,
  files: Files = noFiles(),
): Promise<{ result: unknown } | null> {
  const path = controlPath(data_dir)
  if (process.platform !== 'win32' && !ours(path, data_dir)) return null
  const socket = connect(path)
  const connected = await new Promise<boolean>((done) => {
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
  })
  if (!connected) return null
  socket.on('error', () => socket.destroy())
  socket.write(`${JSON.stringify({ command, args })}\n`)
  const sent = sendFiles(socket, files)
  // Awaited below; until then its failure must not count as unhandled.
  sent.catch(() => socket.destroy())
  for await (const line of readLines(socket)) {
    const message = JSON.parse(line) as {
      progress?: unknown
      result?: unknown
      error?: { code: string; message: string }
    }
    if (message.error !== undefined) {
      socket.destroy()
      throw new CommandFailed(message.error.code, message.error.message)
    }
    if ('progress' in message) progress(message.progress)
    else {
      // Whatever was not taken by now is not wanted.
      socket.destroy()
      return { result: message.result }
    }
  }
  await sent
  throw new CommandFailed('internal', 'the server ended before it had answered')
}

/** A socket in the shared temporary folder could be somebody else's trap; in the data folder root may use any. */
function ours(path: string, data_dir: string): boolean {
  if (!existsSync(path)) return false
  const { uid } = userInfo()
  return statSync(path).uid === uid || (uid === 0 && path.startsWith(resolve(data_dir)))
}

async function* readLines(socket: Socket): AsyncGenerator<string> {
  let held: string[] = []
  let length = 0
  socket.setEncoding('utf8')
  for await (const chunk of socket as AsyncIterable<string>) {
    const parts = chunk.split('\n')
    for (const part of parts.slice(0, -1)) {
      yield held.join('') + part
      held = []
      length = 0
    }
    held.push(parts.at(-1)!)
    length += parts.at(-1)!.length
    if (length > LINE_CHARS_MAX) throw new Error('a line of the control socket is too long')
  }
}
