/** The mails that Wardpost writes: as text, and as plain HTML that looks the same in every program. */
import type { Severity } from '../../alerts/types.ts'

export interface Written {
  subject: string
  text: string
  html: string
}

/** An alert, as far as a mail speaks of it. */
export interface AlertWords {
  id: string
  severity: Severity
  status: string
  title: string
  summary: string
  evidence: Record<string, unknown>
  first_at: string
  count: number
}

const SUBJECT_CHARS_MAX = 150
const FACTS_MAX = 12

const COLOURS: Readonly<Record<Severity, string>> = {
  critical: '#b3261e',
  high: '#b3261e',
  medium: '#8a5300',
  low: '#4a5a6a',
  info: '#4a5a6a',
}

const title = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
/** On one line: a title comes from what strangers sent. */
const line = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const minute = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

export function alertMail(alert: AlertWords, base_url: string): Written {
  const url = `${base_url}/alerts/${alert.id}`
  const facts = factsOf(alert)
  const text = [
    `${title(alert.severity)}: ${line(alert.title)}`,
    '',
    line(alert.summary),
    '',
    ...facts.map(([name, value]) => `${name}: ${value}`),
    `Since: ${minute(alert.first_at)}`,
    '',
    `Open it in Wardpost: ${url}`,
    '',
  ].join('\n')
  const rows = [...facts, ['Since', minute(alert.first_at)] as const].map(([name, value]) =>
    factRow(name, value),
  )
  const html = page(
    `<p style="margin:0 0 4px;color:${COLOURS[alert.severity]};font-weight:bold">${title(alert.severity)}</p>
<h1 style="margin:0 0 12px;font-size:18px">${escaped(line(alert.title))}</h1>
<p>${escaped(line(alert.summary))}</p>
<table style="border-collapse:collapse;font-size:13px">${rows.join('')}</table>
${button(url, 'Open the alert')}`,
  )
  return { subject: subject(`${title(alert.severity)}: ${alert.title}`), text, html }
}

export function digestMail(alerts: readonly AlertWords[], base_url: string): Written {
  const open = alerts.filter((alert) => alert.status !== 'resolved').length
  const head = `${alerts.length} ${alerts.length === 1 ? 'alert' : 'alerts'}, ${open} not resolved`
  const items = alerts.map((alert) => ({
    alert,
    url: `${base_url}/alerts/${alert.id}`,
    state: `${title(alert.severity)}, ${alert.status}, since ${minute(alert.first_at)}`,
  }))
  const text = [
    head,
    '',
    ...items.flatMap(({ alert, url, state }) => [`- ${line(alert.title)}`, `  ${state}`, `  ${url}`, '']),
  ].join('\n')
  const list = items.map(
    ({ alert, url, state }) =>
      `<li style="margin:0 0 10px"><a href="${escaped(url)}" style="color:#0b57a4">${escaped(line(alert.title))}</a>
<br><span style="color:#4a5a6a;font-size:13px">${escaped(state)}</span></li>`,
  )
  const html = page(
    `<h1 style="margin:0 0 12px;font-size:18px">${escaped(head)}</h1>
<ul style="margin:0;padding:0 0 0 18px">${list.join('')}</ul>
${button(`${base_url}/alerts`, 'All alerts')}`,
  )
  return { subject: subject(head), text, html }
}

export function testMail(): Written {
  const words = 'This is a test. Mail from Wardpost arrives here.'
  return { subject: subject('Test'), text: `${words}\n`, html: page(`<p>${words}</p>`) }
}

function subject(text: string): string {
  return `[Wardpost] ${line(text)}`.slice(0, SUBJECT_CHARS_MAX)
}

/** Single values of the evidence; lists and what only the rules need are left to the page of the alert. */
function factsOf({ evidence, summary }: AlertWords): (readonly [string, string])[] {
  return Object.entries(evidence)
    .filter(([name, value]) => name !== 'seen' && !name.endsWith('_id') && isSingle(value))
    .filter(([, value]) => typeof value !== 'string' || !summary.includes(value))
    .slice(0, FACTS_MAX)
    .map(([name, value]) => [title(name.replaceAll('_', ' ')), factText(String(value))] as const)
}

function factText(text: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? minute(text) : line(text)
}

function isSingle(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function factRow(name: string, value: string): string {
  return `<tr><td style="padding:2px 16px 2px 0;color:#4a5a6a">${escaped(name)}</td><td style="padding:2px 0">${escaped(value)}</td></tr>`
}

function button(url: string, words: string): string {
  return `<p style="margin:20px 0 0"><a href="${escaped(url)}" style="color:#0b57a4;font-weight:bold">${words}</a></p>`
}

function page(body: string): string {
  return `<!doctype html>
<html><body style="margin:0;padding:20px;background:#ffffff;color:#1a2530;font:15px/1.45 Arial,Helvetica,sans-serif">
${body}
<p style="margin:28px 0 0;color:#4a5a6a;font-size:12px">Sent by Wardpost. Who is told of what is set under Settings, Notifications.</p>
</body></html>
`
}
