import { invalid } from '../lib/errors.ts'
import { toALabels } from '../lib/hostname.ts'
import { isId } from '../lib/ids.ts'
import { DOMAIN_FILTER_NAMES_MAX } from '../lib/limits.ts'

/** Names and ids of a `domain` filter in the form in which they are stored; undefined: no filter. */
export function readDomainFilter(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const names = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  if (names.length > DOMAIN_FILTER_NAMES_MAX) {
    throw invalid('?domain', 'too_many', `At most ${DOMAIN_FILTER_NAMES_MAX} domains can be named.`)
  }
  // What is no name matches nothing, which is the true answer.
  return names.map((each) => (isId('dom', each) ? each : (toALabels(each) ?? each.toLowerCase())))
}
