import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, ApiProblem, fieldError, isAllFields } from '../../lib/api.ts'
import { PROFILE_CHOICES } from '../../lib/dmarc.ts'
import { useCan } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import type { Domain, Profile } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/drawer.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { notify } from '../../ui/toast.tsx'
import { DeleteDomain } from './drawer.tsx'

/** `a, b` or one per line -> the parts. */
function parts(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

const FIELDS = ['compliance_threshold', 'tags', 'outbound_ips', 'dkim_selectors', 'profile'] as const

export function DomainSettings({ domain, close }: { domain: Domain; close: string }) {
  const view = useView()
  const can = useCan()
  const [deleting, setDeleting] = useState(false)
  const reason = can('domains:write').reason
  return (
    <>
      <Section title="Settings">
        <SettingsForm domain={domain} reason={reason} />
      </Section>
      <Section title="Delete">
        <p className="t13 t2 mb-3">
          The reports about it stay and become unassigned. Adding it again adopts them.
        </p>
        <Button kind="danger" icon="trash" reason={reason} onClick={() => setDeleting(true)}>
          Delete {domain.unicode_name}
        </Button>
        <DeleteDomain
          domain={domain}
          open={deleting}
          onClose={() => setDeleting(false)}
          onDone={() => view.go(close)}
        />
      </Section>
    </>
  )
}

interface Draft {
  threshold: string
  profile: Profile
  tags: string
  addresses: string
  selectors: string
  /** The version the draft was made from: what others change meanwhile is not overwritten. */
  version: number
}

function draftOf(domain: Domain): Draft {
  return {
    threshold: String(domain.compliance_threshold),
    profile: domain.profile,
    tags: domain.tags.join(', '),
    addresses: domain.outbound_ips.join('\n'),
    selectors: domain.dkim_selectors.join(', '),
    version: domain.version,
  }
}

function SettingsForm({ domain, reason }: { domain: Domain; reason: string | undefined }) {
  const [draft, setDraft] = useState(() => draftOf(domain))
  const change = (patch: Partial<Draft>) => setDraft((old) => ({ ...old, ...patch }))
  const save = useMutation({
    mutationFn: () =>
      api.patch<Domain>(
        `/v1/domains/${domain.id}`,
        {
          compliance_threshold: Number(draft.threshold),
          profile: draft.profile,
          tags: parts(draft.tags),
          outbound_ips: parts(draft.addresses),
          dkim_selectors: parts(draft.selectors),
        },
        { version: draft.version },
      ),
    onSuccess: async (saved) => {
      setDraft(draftOf(saved))
      await refresh('/v1/domains')
      notify({ kind: 'pass', text: `${saved.unicode_name} is saved` })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason === undefined) save.mutate()
  }
  return (
    <form className="col g16" onSubmit={submit}>
      <SettingsFields draft={draft} change={change} error={save.error} />
      <SaveProblem error={save.error} />
      <div className="flex">
        <Button kind="primary" type="submit" busy={save.isPending} reason={reason} showReason>
          Save
        </Button>
      </div>
    </form>
  )
}

function SaveProblem({ error }: { error: unknown }) {
  if (error instanceof ApiProblem && error.status === 412) {
    return (
      <Notice kind="high" alert>
        Somebody changed this domain in the meantime. Close and open it again to see how it is now.
      </Notice>
    )
  }
  return error === null || isAllFields(error, FIELDS) ? null : <ProblemNotice error={error} />
}

interface FieldsProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  error: unknown
}

function SettingsFields({ draft, change, error }: FieldsProps) {
  return (
    <>
      <TextField
        label="Limit of compliance, %"
        type="number"
        min={0}
        max={100}
        step="0.1"
        value={draft.threshold}
        onText={(threshold) => change({ threshold })}
        error={fieldError(error, 'compliance_threshold')}
        hint="Below it the domain is marked everywhere"
      />
      <SelectField
        label="It is used for"
        value={draft.profile}
        options={PROFILE_CHOICES}
        onValue={(profile) => change({ profile })}
      />
      <TextField
        label="Tags"
        value={draft.tags}
        onText={(tags) => change({ tags })}
        error={fieldError(error, 'tags')}
        hint="Separated by commas"
      />
      <TextArea
        label="Outbound addresses"
        mono
        value={draft.addresses}
        onText={(addresses) => change({ addresses })}
        error={fieldError(error, 'outbound_ips')}
        hint="Addresses or networks your own servers send from, one per line"
      />
      <TextField
        label="DKIM selectors"
        mono
        value={draft.selectors}
        onText={(selectors) => change({ selectors })}
        error={fieldError(error, 'dkim_selectors')}
        hint="Separated by commas"
      />
    </>
  )
}
