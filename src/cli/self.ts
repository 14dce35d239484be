/**
 * How to start this executable again with a hidden verb: compiled, it is one file; from the sources it is Bun with
 * `src/main.ts`.
 */
import { join } from 'node:path'

/** Compiled modules live in a file system of their own. */
export const IS_COMPILED =
  import.meta.path.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/i.test(import.meta.path)

export function selfCommand(verb: string): string[] {
  if (IS_COMPILED) return [process.execPath, verb]
  return [process.execPath, join(import.meta.dir, '../main.ts'), verb]
}
