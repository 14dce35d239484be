import { useMutation } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useCan } from '../../lib/me.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { NOTIFICATIONS_PATH } from './types.ts'
import type { Notifications } from './types.ts'

interface Results {
  results: { to: string; ok: boolean; error: string | null }[]
}

/** A mail to everybody who would be told, at once, and what became of each. */
export function TestPanel({ settings }: { settings: Notifications }) {
  const can = useCan()
  const test = useMutation({ mutationFn: () => api.post<Results>(`${NOTIFICATIONS_PATH}/test`) })
  const reason =
    can('settings:write').reason ?? (settings.mail_configured ? undefined : 'no mail server is set up')
  const results = test.data?.results
  return (
    <Panel title="Test" sub="to everybody who would be told, whatever the quiet hours">
      <div className="pad col g12" aria-live="polite">
        <div className="flex wrap">
          <Button
            icon="mail"
            busy={test.isPending}
            reason={reason}
            showReason={reason !== undefined}
            onClick={() => test.mutate()}
          >
            {test.isPending ? 'Sending' : 'Send a test mail'}
          </Button>
        </div>
        {test.error !== null && <ProblemNotice error={test.error} />}
        {results !== undefined && (
          <ul className="results" aria-label="What became of each mail">
            {results.map((row) => (
              <li key={row.to}>
                <State kind={row.ok ? 'pass' : 'fail'}>{row.ok ? 'Taken' : 'Refused'}</State>
                <span className="brk">
                  {row.to}
                  {row.error !== null && <span className="sub">{row.error}</span>}
                </span>
              </li>
            ))}
            {results.length === 0 && <li>Nobody would be told.</li>}
          </ul>
        )}
      </div>
    </Panel>
  )
}
