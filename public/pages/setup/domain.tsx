import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { PROFILE_CHOICES } from '../../lib/dmarc.ts'
import { useGet } from '../../lib/query.ts'
import type { Domain, Page, Profile } from '../../lib/types.ts'
import { Button, Seg, Why } from '../../ui/button.tsx'
import { CopyTextButton } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { DnsRecords, recordsOf, requestText, zoneText } from '../domains/records.tsx'
import { StepHead } from './account.tsx'
import { LiveCheck } from './live.tsx'

interface StepProps {
  onNext: () => void
  onNote: (text: string) => void
}

/** Adds the first domain, shows what to publish, and looks every 15 s whether it is there. */
export function DomainStep({ onNext, onNote }: StepProps) {
  // Coming back to this step shows the domain that was added before.
  const known = useGet<Page<Domain>>('/v1/domains', { limit: 1 }, { poll: false })
  const [added, setAdded] = useState<Domain | null>(null)
  const domain = added ?? known.data?.items[0] ?? null
  const seen = domain === null ? 0 : recordsOf(domain).filter((record) => record.state === 'seen').length
  const change = (next: Domain) => {
    setAdded(next)
    const found = recordsOf(next)
    onNote(
      `${next.unicode_name}, ${found.filter((record) => record.state === 'seen').length} of ${found.length} records seen`,
    )
  }
  return (
    <>
      <StepHead
        step={4}
        title="Add your first domain"
        lead="Add these records where the DNS of the domain is kept. Wardpost reads DNS only; it changes nothing."
      />
      {domain === null ? <AddForm onAdded={change} /> : <Records domain={domain} seen={seen} />}
      {domain !== null && <LiveCheck domain={domain} onChecked={change} />}
      <div className="setup__f">
        <span className="grow" />
        {domain !== null && <Why>The first report arrives within 24 h of the DMARC record</Why>}
        {domain === null || seen < 2 ? <Button onClick={onNext}>Skip for now</Button> : null}
        {domain !== null && (
          <Button kind="primary" onClick={onNext}>
            Continue
          </Button>
        )}
      </div>
    </>
  )
}

function AddForm({ onAdded }: { onAdded: (domain: Domain) => void }) {
  const [name, setName] = useState('')
  const [profile, setProfile] = useState<Profile>('sending')
  const add = useMutation({
    mutationFn: () => api.post<Domain>('/v1/domains', { name: name.trim(), profile }),
    onSuccess: onAdded,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <form className="col g16" onSubmit={submit}>
      <div className="setup__form">
        <TextField
          fieldClass="grow"
          label="Domain"
          mono
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="example.com"
          value={name}
          onText={setName}
          error={fieldError(add.error, 'name')}
          hint="The one in the From address of your mail"
        />
        <div className="field">
          <span className="label">It is used for</span>
          <Seg label="It is used for" value={profile} options={PROFILE_CHOICES} onChange={setProfile} />
        </div>
      </div>
      {add.error !== null && !isAllFields(add.error, ['name']) && <ProblemNotice error={add.error} />}
      <div>
        <Button
          kind="primary"
          type="submit"
          busy={add.isPending}
          reason={name.trim() === '' ? 'write the name first' : undefined}
        >
          Add domain
        </Button>
      </div>
    </form>
  )
}

function Records({ domain, seen }: { domain: Domain; seen: number }) {
  const records = recordsOf(domain)
  return (
    <Panel
      title="Records to add"
      label="Records to add"
      sub={`for ${domain.unicode_name}, ${seen} of ${records.length} seen`}
      actions={
        <>
          <CopyTextButton text={zoneText(records)}>Copy as zone file</CopyTextButton>
          <CopyTextButton text={requestText(domain, records)}>Copy as text for your DNS team</CopyTextButton>
        </>
      }
    >
      <DnsRecords records={records} />
    </Panel>
  )
}
