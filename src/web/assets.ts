/**
 * The files of the UI. This one runs from the sources only (`bun run dev`, tests) and builds them in memory on first
 * use; in the executable `build.ts` puts a generated module in its place that holds the finished files.
 */
import type { Asset } from './static.ts'

export async function loadAssets(): Promise<readonly Asset[]> {
  const { buildUi, packAssets } = await import('../../build.ts')
  return packAssets(await buildUi(new URL('../../public/index.html', import.meta.url).pathname), 'fast')
}
