import { exact, moment, relative } from '../lib/format.ts'

/** A time in UTC with the exact one in its title. `as`: how it is written. */
export function Time({
  at,
  as = 'moment',
}: {
  at: string | null | undefined
  as?: 'moment' | 'relative' | 'exact'
}) {
  if (at === null || at === undefined) return <span className="t3">never</span>
  const text = as === 'relative' ? relative(at) : as === 'exact' ? exact(at) : moment(at)
  return (
    <time dateTime={at} title={`${exact(at)}, ${relative(at)}`} className="nw">
      {text}
    </time>
  )
}
