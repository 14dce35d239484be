import { useEffect, useRef, useState } from 'react'
import { api, explain } from '../../lib/api.ts'
import { nowMs, timeSeconds } from '../../lib/format.ts'
import type { Domain } from '../../lib/types.ts'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { recordsOf } from '../domains/records.tsx'

const EVERY_S = 15
const LINES_MAX = 8

interface Line {
  id: number
  at_ms: number
  name: string
  kind: StateKind
  text: string
}

const WORDS: Record<string, { kind: StateKind; text: string }> = {
  seen: { kind: 'pass', text: 'found' },
  missing: { kind: 'pending', text: 'not there yet' },
  differs: { kind: 'warn', text: 'differs' },
  unknown: { kind: 'pending', text: 'no answer' },
}

let line_id = 0

/** Looks the records up every 15 s while the page is open, and says what was answered. */
export function LiveCheck({ domain, onChecked }: { domain: Domain; onChecked: (domain: Domain) => void }) {
  const [left_s, setLeft] = useState(EVERY_S)
  const [lines, setLines] = useState<readonly Line[]>([])
  const [busy, setBusy] = useState(false)
  const running = useRef(false)
  const complete = recordsOf(domain).every((record) => record.state === 'seen')
  const check = async () => {
    if (running.current) return
    running.current = true
    setBusy(true)
    const say = (name: string, kind: StateKind, text: string) =>
      setLines((old) => [{ id: line_id++, at_ms: nowMs(), name, kind, text }, ...old].slice(0, LINES_MAX))
    try {
      if (domain.status === 'pending') await api.post<Domain>(`/v1/domains/${domain.id}/verify`, {})
      const found = await api.post<Domain>(`/v1/domains/${domain.id}/check`)
      for (const record of recordsOf(found).toReversed()) {
        const words = WORDS[record.state]
        if (words !== undefined) say(`${record.name} TXT`, words.kind, words.text)
      }
      onChecked(found)
    } catch (error) {
      say(domain.name, 'fail', explain(error))
    } finally {
      running.current = false
      setBusy(false)
      setLeft(EVERY_S)
    }
  }
  const latest = useRef(check)
  useEffect(() => {
    latest.current = check
  })
  useEffect(() => {
    if (complete) return undefined
    const timer = setInterval(() => setLeft((left) => Math.max(0, left - 1)), 1000)
    return () => clearInterval(timer)
  }, [complete])
  useEffect(() => {
    if (left_s === 0 && !complete) void latest.current()
  }, [left_s, complete])
  return (
    <Panel
      title="Live check"
      sub={complete ? 'every record is there' : 'asks the resolver of this installation'}
      actions={
        <Button small icon="refresh" busy={busy} onClick={() => void check()}>
          {busy ? 'Checking' : 'Check now'}
        </Button>
      }
    >
      {!complete && <Countdown left_s={left_s} busy={busy} />}
      <Log lines={lines} />
    </Panel>
  )
}

function Countdown({ left_s, busy }: { left_s: number; busy: boolean }) {
  return (
    <div className="live__p">
      <div
        className="prog"
        role="progressbar"
        aria-label="Until the next check"
        aria-valuemin={0}
        aria-valuemax={EVERY_S}
        aria-valuenow={EVERY_S - left_s}
      >
        <i style={{ width: `${((EVERY_S - left_s) / EVERY_S) * 100}%` }} />
      </div>
      <span className="t12 t3 nw">{busy ? 'checking' : `next in ${left_s} s`}</span>
    </div>
  )
}

function Log({ lines }: { lines: readonly Line[] }) {
  return (
    <ul className="log" aria-live="polite">
      {lines.length === 0 && (
        <li>
          <time>–</time>
          <span />
          <span>Nothing was asked yet</span>
        </li>
      )}
      {lines.map((line) => (
        <li key={line.id}>
          <time>{timeSeconds(line.at_ms)}</time>
          <span>resolver</span>
          <span>{line.name}</span>
          <State kind={line.kind}>{line.text}</State>
        </li>
      ))}
    </ul>
  )
}
