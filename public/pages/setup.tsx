import { useState } from 'react'
import { useAuthState } from '../lib/me.ts'
import { queries } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { LinkButton } from '../ui/button.tsx'
import { Glyph, Mark } from '../ui/icons.tsx'
import { Gate, PlainHttp } from './gate.tsx'
import { tokenOfFragment } from './link.tsx'
import { OwnerForm, OrganisationForm, TokenForm, type Owner } from './setup/account.tsx'
import { DomainStep } from './setup/domain.tsx'
import { ReadyStep, ReportsStep } from './setup/finish.tsx'

const STEPS = ['link', 'owner', 'organisation', 'domain', 'reports', 'ready'] as const
export type SetupStep = (typeof STEPS)[number]

const STEP_TEXTS: Record<SetupStep, { title: string; note: string }> = {
  link: { title: 'Setup link', note: 'Works once' },
  owner: { title: 'Owner account', note: 'May change everything' },
  organisation: { title: 'Organisation', note: 'What is kept apart from others' },
  domain: { title: 'First domain', note: 'Optional' },
  reports: { title: 'First reports', note: 'Optional' },
  ready: { title: 'Ready', note: '' },
}

/** First run: link, owner, organisation, domain with a live check, reports. Each step can be left for later. */
export function SetupPage() {
  useTitle('Setup')
  const view = useView()
  const state = useAuthState()
  const [token, setToken] = useState(tokenOfFragment)
  const [owner, setOwner] = useState<Owner | null>(null)
  const [notes, setNotes] = useState<Partial<Record<SetupStep, string>>>({})
  const asked = view.get('step')
  const later = asked === 'domain' || asked === 'reports' || asked === 'ready' ? asked : undefined
  if (state.data === undefined) return <div className="boot">Asking the server</div>
  const { setup_required, authenticated, version } = state.data
  if (!setup_required && (later === undefined || !authenticated)) return <AlreadySetUp />
  const step: SetupStep =
    later !== undefined && authenticated && !setup_required
      ? later
      : token === ''
        ? 'link'
        : owner === null
          ? 'owner'
          : 'organisation'
  const go = (next: SetupStep, search: Record<string, string | undefined> = {}) =>
    view.go(view.at('/setup', { step: next, ...search }))
  const note = (of: SetupStep, text: string) => setNotes((old) => ({ ...old, [of]: text }))
  const done = async (organisation: string) => {
    note('organisation', organisation)
    await queries.invalidateQueries()
    go('domain')
  }
  return (
    <div className="setup">
      <Side step={step} version={version} notes={notes} />
      <main id="main" className="setup__main">
        <div className="setup__in">
          <PlainHttp />
          {step === 'link' && <TokenForm onToken={setToken} />}
          {step === 'owner' && (
            <OwnerForm
              onOwner={(next) => {
                note('owner', next.email)
                setOwner(next)
              }}
            />
          )}
          {step === 'organisation' && owner !== null && (
            <OrganisationForm token={token} owner={owner} onBack={() => setOwner(null)} onDone={done} />
          )}
          {step === 'domain' && (
            <DomainStep onNext={() => go('reports')} onNote={(text) => note('domain', text)} />
          )}
          {step === 'reports' && <ReportsStep onBack={() => go('domain')} onNext={() => go('ready')} />}
          {step === 'ready' && <ReadyStep />}
        </div>
      </main>
    </div>
  )
}

function AlreadySetUp() {
  return (
    <Gate title="Wardpost is set up" lead="The setup link was used; it works once.">
      <LinkButton kind="primary" href="/">
        Go to the overview
      </LinkButton>
    </Gate>
  )
}

interface SideProps {
  step: SetupStep
  version: string
  notes: Partial<Record<SetupStep, string>>
}

function Side({ step, version, notes }: SideProps) {
  const at = STEPS.indexOf(step)
  return (
    <aside className="setup__side" aria-label="Setup">
      <div className="brand">
        <Mark />
        <b>Wardpost</b>
        <span className="t3 t12">{version}</span>
      </div>
      <nav aria-label="Setup steps">
        <ol className="steps">
          {STEPS.map((name, index) => (
            <li
              key={name}
              className={index < at ? 'is-pass' : index === at ? 'is-cur' : 'is-todo'}
              {...(index === at ? { 'aria-current': 'step' as const } : {})}
            >
              <span className="steps__n">
                {index < at ? (
                  <>
                    <Glyph name="pass" />
                    <span className="vh">Done:</span>
                  </>
                ) : (
                  index + 1
                )}
              </span>
              <span>
                <b>{STEP_TEXTS[name].title}</b>
                <small>{notes[name] ?? STEP_TEXTS[name].note}</small>
              </span>
            </li>
          ))}
        </ol>
      </nav>
      <p className="setup__hint">
        Domain and reports can be skipped. What is left over stays on the overview until it is done.
      </p>
    </aside>
  )
}
