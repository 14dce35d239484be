import type { ReactNode } from 'react'
import { ApiProblem, explain } from '../lib/api.ts'
import { Button } from './button.tsx'
import { Glyph, Icon, type GlyphName, type IconName } from './icons.tsx'

export type NoticeKind = 'info' | 'accent' | 'pass' | 'high' | 'critical'

const NOTICE_GLYPHS: Record<NoticeKind, GlyphName> = {
  info: 'info',
  accent: 'info',
  pass: 'pass',
  high: 'warn',
  critical: 'critical',
}

/** At most one sentence and one link. */
export function Notice({
  kind = 'info',
  alert = false,
  children,
}: {
  kind?: NoticeKind
  alert?: boolean
  children: ReactNode
}) {
  return (
    <div className={kind === 'info' ? 'note' : `note note--${kind}`} {...(alert ? { role: 'alert' } : {})}>
      <Glyph name={NOTICE_GLYPHS[kind]} />
      <div className="grow">{children}</div>
    </div>
  )
}

/** What the server said when something failed; with its request id to quote. */
export function ProblemNotice({ error, retry }: { error: unknown; retry?: () => void }) {
  const id = error instanceof ApiProblem ? error.request_id : null
  return (
    <div className="note note--critical" role="alert">
      <Glyph name="critical" />
      <div className="grow">
        {explain(error)}
        {id !== null && <span className="sub mono t3 block">{id}</span>}
      </div>
      {retry !== undefined && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

interface EmptyProps {
  /** `yet`: nothing came so far; `match`: the filters leave nothing; `done`: all is done. */
  kind: 'yet' | 'match' | 'done'
  title: string
  icon?: IconName
  children?: ReactNode
  action?: ReactNode
}

const EMPTY_ICONS: Record<EmptyProps['kind'], IconName> = { yet: 'file', match: 'filter', done: 'check' }

/** Never a blank table: says why it is empty and what to do. */
export function Empty({ kind, title, icon, children, action }: EmptyProps) {
  return (
    <div className="empty">
      <Icon name={icon ?? EMPTY_ICONS[kind]} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action !== undefined && <div className="flex wrap">{action}</div>}
    </div>
  )
}
