const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\/|Chromium\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Mac OS X/, 'macOS'],
  [/Windows/, 'Windows'],
  [/Linux|X11/, 'Linux'],
]

/** Mozilla/5.0 … -> "Chrome on Linux": enough to tell one's own browsers apart; the full text stays in the title. */
export function agentName(agent: string | null): string {
  if (agent === null || agent === '') return 'Unknown program'
  const browser = BROWSERS.find(([test]) => test.test(agent))?.[1]
  const system = SYSTEMS.find(([test]) => test.test(agent))?.[1]
  if (browser === undefined) return agent.split(/[\s/]/)[0] ?? agent
  return system === undefined ? browser : `${browser} on ${system}`
}
