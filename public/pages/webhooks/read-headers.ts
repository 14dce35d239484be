/**
 * Headers as people paste them: `Name: value` lines of a log or of `curl -v` (`> Name: value`), or a JSON object.
 * Lines without a name are left out.
 */
export function readHeaders(text: string): Record<string, string> {
  const trimmed = text.trim()
  if (trimmed.startsWith('{')) {
    try {
      const found = Object.entries(JSON.parse(trimmed) as Record<string, unknown>)
      return Object.fromEntries(found.map(([name, value]) => [name, asText(value)]))
    } catch {
      // Not JSON after all: read as lines.
    }
  }
  const headers: Record<string, string> = {}
  for (const line of trimmed.split(/\r?\n/)) {
    const match = /^\s*(?:[<>*]\s*)?["']?([!#$%&'*+.^_`|~\w-]+?)["']?\s*:\s*(.*)$/.exec(line)
    if (match === null) continue
    const [, name = '', value = ''] = match
    headers[name] = value.trim().replace(/^"(.*)",?$/, '$1')
  }
  return headers
}

/** Frameworks give a list where a header may come more than once. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
