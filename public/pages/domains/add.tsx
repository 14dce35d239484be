import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { PROFILE_CHOICES } from '../../lib/dmarc.ts'
import { refresh } from '../../lib/query.ts'
import type { Domain, Profile } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Seg } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.tsx'

/** Asks for the name alone; what to publish is shown on the domain's DNS tab afterwards. */
export function AddDomain({ open, name: suggested }: { open: boolean; name: string | undefined }) {
  const view = useView()
  const [name, setName] = useState('')
  const [profile, setProfile] = useState<Profile>('sending')
  const add = useMutation({
    mutationFn: () => api.post<Domain>('/v1/domains', { name: name.trim(), profile }),
    onSuccess: async (domain) => {
      await refresh('/v1/domains', '/v1/reports')
      notify({ kind: 'pass', text: `${domain.unicode_name} is added. Publish its record to verify it.` })
      view.go(`/domains/${domain.id}?tab=dns`)
    },
  })
  const { reset } = add
  useEffect(() => {
    if (!open) return
    setName(suggested ?? '')
    setProfile('sending')
    reset()
  }, [open, suggested, reset])
  return (
    <FormDialog
      open={open}
      title="Add a domain"
      submitLabel="Add domain"
      onClose={() => view.set({ add: undefined, name: undefined })}
      onSubmit={async () => {
        await add.mutateAsync().catch(() => {})
      }}
      busy={add.isPending}
      error={add.error}
      hideError={isAllFields(add.error, ['name'])}
      reason={name.trim() === '' ? 'write the name first' : undefined}
    >
      <p className="t2">
        Reports about it and its subdomains are counted from then on; those that came before are adopted.
      </p>
      <TextField
        label="Domain"
        mono
        autoFocus
        autoComplete="off"
        spellCheck={false}
        placeholder="example.com"
        value={name}
        onText={setName}
        error={fieldError(add.error, 'name')}
      />
      <div className="field">
        <span className="label">It is used for</span>
        <span>
          <Seg label="It is used for" value={profile} options={PROFILE_CHOICES} onChange={setProfile} />
        </span>
      </div>
    </FormDialog>
  )
}
