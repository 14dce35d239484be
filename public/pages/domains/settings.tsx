import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, ApiProblem, fieldError, isAllFields } from '../../lib/api.ts'
import { PROFILE_CHOICES } from '../../lib/dmarc.ts'
import { useCan } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import type { Domain } from '../../lib/types.ts'
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
  const [threshold, setThreshold] = useState(String(domain.compliance_threshold))
  const [profile, setProfile] = useState(domain.profile)
  const [tags, setTags] = useState(domain.tags.join(', '))
  const [addresses, setAddresses] = useState(domain.outbound_ips.join('\n'))
  const [selectors, setSelectors] = useState(domain.dkim_selectors.join(', '))
  const save = useMutation({
    mutationFn: () =>
      api.patch<Domain>(
        `/v1/domains/${domain.id}`,
        {
          compliance_threshold: Number(threshold),
          profile,
          tags: parts(tags),
          outbound_ips: parts(addresses),
          dkim_selectors: parts(selectors),
        },
        { version: domain.version },
      ),
    onSuccess: async () => {
      await refresh('/v1/domains')
      notify({ kind: 'pass', text: `${domain.unicode_name} is saved` })
    },
  })
  const reason = can('domains:write').reason
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason === undefined) save.mutate()
  }
  const conflict = save.error instanceof ApiProblem && save.error.status === 412
  return (
    <>
      <Section title="Settings">
        <form className="col g16" onSubmit={submit}>
          <TextField
            label="Limit of compliance, %"
            type="number"
            min={0}
            max={100}
            step="0.1"
            value={threshold}
            onText={setThreshold}
            error={fieldError(save.error, 'compliance_threshold')}
            hint="Below it the domain is marked everywhere"
          />
          <SelectField
            label="It is used for"
            value={profile}
            options={PROFILE_CHOICES}
            onValue={setProfile}
          />
          <TextField
            label="Tags"
            value={tags}
            onText={setTags}
            error={fieldError(save.error, 'tags')}
            hint="Separated by commas"
          />
          <TextArea
            label="Outbound addresses"
            mono
            value={addresses}
            onText={setAddresses}
            error={fieldError(save.error, 'outbound_ips')}
            hint="Addresses or networks your own servers send from, one per line"
          />
          <TextField
            label="DKIM selectors"
            mono
            value={selectors}
            onText={setSelectors}
            error={fieldError(save.error, 'dkim_selectors')}
            hint="Separated by commas"
          />
          {conflict && (
            <Notice kind="high" alert>
              Somebody changed this domain in the meantime. Close and open it again to see how it is now.
            </Notice>
          )}
          {save.error !== null && !conflict && !isAllFields(save.error, FIELDS) && (
            <ProblemNotice error={save.error} />
          )}
          <div className="flex">
            <Button kind="primary" type="submit" busy={save.isPending} reason={reason} showReason>
              Save
            </Button>
          </div>
        </form>
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
