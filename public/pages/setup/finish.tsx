import { count, plural } from '../../lib/format.ts'
import { useUpload } from '../../lib/uploads.ts'
import { Button, LinkButton, Why } from '../../ui/button.tsx'
import { A } from '../../ui/link.tsx'
import { ProgressLine } from '../../ui/meter.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { DropBox } from '../upload/dropbox.tsx'
import { addedBy, KIND_LOOK, KINDS, resultRows } from '../upload/results.ts'
import { StepHead } from './account.tsx'

/** Reports that receivers have sent already make the first page full instead of empty. */
export function ReportsStep({ onBack, onNext }: { onBack: () => void; onNext: () => void }) {
  const job = useUpload()
  const rows = resultRows(job?.items ?? [])
  const finished = job?.items.filter((item) => item.state === 'done' || item.state === 'failed').length ?? 0
  return (
    <>
      <StepHead
        step={5}
        title="Reports you have already"
        lead="If receivers have sent reports to a mailbox so far, bring them in: XML, ZIP, GZIP or whole mails, as they are."
      />
      <DropBox />
      {job !== null && (
        <Panel title="Results" sub={`${count(addedBy(rows).messages)} messages added`}>
          <ProgressLine
            label="Files read"
            done={finished}
            total={job.items.length}
            note={`${count(finished)} of ${plural(job.items.length, 'file')} read.`}
          />
          <div className="flex wrap pad">
            {KINDS.map((kind) => {
              const number = rows.filter((row) => row.kind === kind).length
              if (number === 0) return null
              return (
                <State key={kind} kind={KIND_LOOK[kind].state}>
                  {KIND_LOOK[kind].word} {count(number)}
                </State>
              )
            })}
            <A className="link" href="/reports/upload">
              Each file
            </A>
          </div>
        </Panel>
      )}
      <div className="setup__f">
        <Button kind="quiet" icon="left" onClick={onBack}>
          Back
        </Button>
        <span className="grow" />
        {job === null && <Button onClick={onNext}>Skip for now</Button>}
        <Button kind={job === null ? 'plain' : 'primary'} onClick={onNext}>
          Continue
        </Button>
      </div>
    </>
  )
}

export function ReadyStep() {
  return (
    <>
      <StepHead step={6} title="Ready" lead="What was skipped is on the overview, under “Needs you now”." />
      <Panel title="Next">
        <div className="ways">
          <div>
            <b>Turn on the second factor</b>
            <A href="/account">Account</A>
            <p>Your account may change everything here; a password alone is little for that.</p>
          </div>
          <div>
            <b>Invite the others</b>
            <A href="/settings/users">Users</A>
            <p>Each with a role; the invitation is a link that you pass on.</p>
          </div>
          <div>
            <b>Let a script send the reports</b>
            <A href="/settings/keys">API keys</A>
            <p>A key with reports:write is enough.</p>
          </div>
        </div>
      </Panel>
      <div className="setup__f">
        <span className="grow" />
        <Why>Setup is done</Why>
        <LinkButton kind="primary" href="/">
          Open the overview
        </LinkButton>
      </div>
    </>
  )
}
