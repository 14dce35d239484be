import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { Seg } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { refresh } from '../../lib/query.ts'
import type { Verification } from './types.ts'

type By = 'whole' | 'time' | 'number'

const WAYS = [
  { value: 'whole', label: 'The whole chain' },
  { value: 'time', label: 'By time' },
  { value: 'number', label: 'By number' },
] as const

interface Props {
  /** The range of the list, as a start. */
  from: string | undefined
  to: string | undefined
  onClose: () => void
  onDone: (result: Verification) => void
}

/** Which part to verify. The verification itself becomes an entry. */
export function VerifyDialog({ from, to, onClose, onDone }: Props) {
  const [by, setBy] = useState<By>(from === undefined && to === undefined ? 'whole' : 'time')
  const [times, setTimes] = useState({ from: from ?? '', to: to ?? '' })
  const [numbers, setNumbers] = useState({ from_seq: '', to_seq: '' })
  const verify = useMutation({
    mutationFn: () =>
      api.get<Verification>('/v1/audit/verify', by === 'time' ? times : by === 'number' ? numbers : {}),
    onSuccess: async (result) => {
      onDone(result)
      await refresh('/v1/audit/query')
    },
  })
  const quiet = () => undefined
  return (
    <FormDialog
      open
      title="Verify the audit log"
      submitLabel="Verify"
      onClose={onClose}
      onSubmit={() => verify.mutateAsync().then(quiet, quiet)}
      busy={verify.isPending}
      error={verify.error}
    >
      <p className="t2">
        Recomputes every hash in the range from the stored bytes and follows the chain from one entry to the
        next.
      </p>
      <Seg label="Range" value={by} options={WAYS} onChange={setBy} />
      {by === 'time' && (
        <div className="grid grid-2">
          <TextField
            label="From, UTC"
            type="date"
            hint="Empty: from the first entry"
            value={times.from}
            onText={(text) => setTimes({ ...times, from: text })}
          />
          <TextField
            label="Before, UTC"
            type="date"
            hint="Empty: to the last entry"
            value={times.to}
            onText={(text) => setTimes({ ...times, to: text })}
          />
        </div>
      )}
      {by === 'number' && (
        <div className="grid grid-2">
          <TextField
            label="First entry"
            inputMode="numeric"
            hint="Empty: the first"
            value={numbers.from_seq}
            onText={(text) => setNumbers({ ...numbers, from_seq: text.trim() })}
          />
          <TextField
            label="Last entry"
            inputMode="numeric"
            hint="Empty: the last"
            value={numbers.to_seq}
            onText={(text) => setNumbers({ ...numbers, to_seq: text.trim() })}
          />
        </div>
      )}
    </FormDialog>
  )
}
