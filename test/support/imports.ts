/** Reads the imports of a source file as text: for the tests that keep the layout. */
import { posix } from 'node:path'

export interface Import {
  /** A path from the root of the project (`src/lib/ids.ts`), or a package's name as written. */
  target: string
  /** Only types: nothing of it runs. */
  type_only: boolean
}

const STATEMENT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:([\w*\s{},$]+?)\s+from\s+)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g

export function importsOf(path: string, text: string): Import[] {
  return [...withoutComments(text).matchAll(STATEMENT)].map((match) => {
    const specifier = match[3] ?? match[4]!
    const target = specifier.startsWith('.')
      ? posix.normalize(posix.join(posix.dirname(path), specifier))
      : specifier
    return { target, type_only: match[1] !== undefined || onlyTypes(match[2]) }
  })
}

/** `{ type A, type B }` */
function onlyTypes(clause: string | undefined): boolean {
  const inner = /^\s*\{([^}]*)\}\s*$/.exec(clause ?? '')?.[1]
  if (inner === undefined) return false
  const names = inner
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.length > 0 && names.every((name) => name.startsWith('type '))
}

/** The text with comments blanked out, so that what is said in them does not count. Strings stay. */
export function withoutComments(text: string): string {
  return text.replace(
    /('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|(^|[\s;{}(,])\/\/[^\n]*/g,
    (whole: string, string: string | undefined, before: string | undefined) =>
      string ?? `${before ?? ''}${whole.replace(/[^\n]/g, '')}`,
  )
}
