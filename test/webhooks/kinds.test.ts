import { describe, expect, test } from 'bun:test'
import { EVENT_KINDS, EVENT_TYPES } from '../../src/lib/event-kinds.ts'

interface Schema {
  type: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean
  items?: Schema
  enum?: string[]
  format?: string
  minimum?: number
  maximum?: number
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

/** What is wrong with a value, by the few words of JSON Schema that the catalogue uses. */
function problems(schema: Schema, value: unknown, at = ''): string[] {
  const types = [schema.type].flat()
  const type = typeOf(value)
  const fits =
    types.includes(type) || (type === 'number' && types.includes('integer') && Number.isInteger(value))
  if (!fits) return [`${at} is ${type}, not ${types.join(' or ')}`]
  if (type === 'object') return inObject(schema, value as Record<string, unknown>, at)
  if (type === 'array')
    return (value as unknown[]).flatMap((each) => problems(schema.items!, each, `${at}[]`))
  const out: string[] = []
  if (schema.enum !== undefined && !schema.enum.includes(value as string))
    out.push(`${at}: unknown ${String(value)}`)
  if (schema.format === 'date-time' && new Date(value as string).toISOString() !== value)
    out.push(`${at}: time`)
  if (schema.minimum !== undefined && (value as number) < schema.minimum) out.push(`${at}: too small`)
  if (schema.maximum !== undefined && (value as number) > schema.maximum) out.push(`${at}: too large`)
  return out
}

function inObject(schema: Schema, value: Record<string, unknown>, at: string): string[] {
  const missing = (schema.required ?? [])
    .filter((name) => !(name in value))
    .map((name) => `${at}/${name} is missing`)
  const members = Object.entries(value).flatMap(([name, each]) => {
    const known = schema.properties?.[name]
    if (known !== undefined) return problems(known, each, `${at}/${name}`)
    return schema.additionalProperties === true ? [] : [`${at}/${name} is not in the schema`]
  })
  return [...missing, ...members]
}

describe('the catalogue of events', () => {
  test('has the ten kinds of the contract', () => {
    expect(EVENT_TYPES).toEqual([
      'DMARC_THRESHOLD_REACHED',
      'NEW_LOOKALIKE_DETECTED',
      'RBL_LISTED',
      'PHISHING_REPORTED',
      'PHISHING_CLUSTERED',
      'SSPM_HIGH_RISK_APP_ADDED',
      'SSPM_NEW_INBOX_RULE',
      'TAKEDOWN_RESOLVED',
      'AWARENESS_CAMPAIGN_COMPLETED',
      'AUDIT_LOG_ANOMALY',
    ])
  })

  test.each(EVENT_TYPES)('shows an example of %s that is what its schema says', (type) => {
    const { schema, example } = EVENT_KINDS[type]
    expect(problems(schema as unknown as Schema, example)).toEqual([])
  })

  test('would notice one that is not', () => {
    const { schema, example } = EVENT_KINDS.PHISHING_REPORTED
    const wrong = { ...example, iocs: { domains: [1], ips: [] }, extra: 1 }
    expect(problems(schema as unknown as Schema, wrong)).toEqual([
      '/iocs/urls is missing',
      '/iocs/domains[] is number, not string',
      '/extra is not in the schema',
    ])
  })
})
