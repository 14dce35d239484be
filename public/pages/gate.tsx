import type { ReactNode } from 'react'
import { useAuthState } from '../lib/me.ts'
import { ThemeMenu } from '../shell/topbar.tsx'
import { Mark } from '../ui/icons.tsx'
import { Notice } from '../ui/notice.tsx'

/** The frame of the pages before one is signed in. */
export function Gate({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  const version = useAuthState().data?.version
  return (
    <main className="gate" id="main">
      <div className="gate__in">
        <div className="brand">
          <Mark />
          <b>Wardpost</b>
          <span className="t3 t12">{version}</span>
          <ThemeMenu />
        </div>
        <section className="panel">
          <div>
            <h1>{title}</h1>
            {lead !== undefined && <p className="t2 t13">{lead}</p>}
          </div>
          {children}
        </section>
        <PlainHttp />
      </div>
    </main>
  )
}

/** Said where a password is typed: over plain HTTP others on the way can read it. */
export function PlainHttp() {
  const local = ['localhost', '127.0.0.1', '[::1]', '::1'].includes(location.hostname)
  if (location.protocol === 'https:' || local) return null
  return (
    <Notice kind="high">
      This page is served over plain HTTP at <span className="mono">{location.host}</span>. Good enough on a
      network you trust; add a certificate before others sign in.
    </Notice>
  )
}
