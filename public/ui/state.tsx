import type { ReactNode } from 'react'
import { Glyph, type GlyphName } from './icons.tsx'

export type Level = 'critical' | 'high' | 'medium' | 'low' | 'info'

const LEVEL_WORDS: Record<Level, string> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  info: 'Info',
}

/** A shape and a word, then a colour. */
export function Severity({ level, children }: { level: Level; children?: ReactNode }) {
  return (
    <span className={`sev c-${level}`}>
      <Glyph name={level} />
      {children ?? LEVEL_WORDS[level]}
    </span>
  )
}

export type StateKind = 'pass' | 'fail' | 'pending' | 'warn' | 'medium' | 'none' | 'half' | 'pause' | 'accent'

const STATE_LOOK: Record<StateKind, { glyph: GlyphName; colour: string; tint: string }> = {
  pass: { glyph: 'pass', colour: 'c-pass', tint: 't-pass' },
  fail: { glyph: 'fail', colour: 'c-fail', tint: 't-fail' },
  pending: { glyph: 'pending', colour: 'c-pending', tint: 't-pending' },
  warn: { glyph: 'warn', colour: 'c-warn', tint: 't-high' },
  medium: { glyph: 'warn', colour: 'c-medium', tint: 't-medium' },
  none: { glyph: 'none', colour: 'c-info', tint: 't-info' },
  half: { glyph: 'half', colour: 'c-low', tint: 't-low' },
  pause: { glyph: 'pause', colour: 'c-info', tint: 't-info' },
  accent: { glyph: 'dot', colour: 'c-accent', tint: 't-accent' },
}

/** What something is now: glyph and word. */
export function State({ kind, children }: { kind: StateKind; children: ReactNode }) {
  const look = STATE_LOOK[kind]
  return (
    <span className={`st ${look.colour}`}>
      <Glyph name={look.glyph} />
      {children}
    </span>
  )
}

/** Only the glyph is drawn, the word is for screen readers: in narrow columns with a header that says what. */
export function StateMark({ kind, word }: { kind: StateKind; word: string }) {
  const look = STATE_LOOK[kind]
  return (
    <span className={look.colour} title={word}>
      <Glyph name={look.glyph} />
      <span className="vh">{word}</span>
    </span>
  )
}

/** Tinted: where it must be found while scanning. */
export function StateTag({ kind, children }: { kind: StateKind; children: ReactNode }) {
  const look = STATE_LOOK[kind]
  return (
    <span className={`tag ${look.tint}`}>
      <Glyph name={look.glyph} />
      {children}
    </span>
  )
}

export function Tag({ children, outline = false }: { children: ReactNode; outline?: boolean }) {
  return <span className={outline ? 'tag t-line' : 'tag'}>{children}</span>
}
