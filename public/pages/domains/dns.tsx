import { useMutation } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useCan, useMe } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import type { Domain } from '../../lib/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyTextButton } from '../../ui/copy.tsx'
import { Section } from '../../ui/drawer.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { notify } from '../../ui/toast.tsx'
import { CheckButton } from './drawer.tsx'
import { Policy } from './overview.tsx'
import { DnsRecords, recordsOf, zoneText } from './records.tsx'

/** What to publish, what is seen, and the proof that the domain is yours. */
export function DomainDns({ domain }: { domain: Domain }) {
  const records = recordsOf(domain)
  return (
    <>
      <Section
        title="Records to publish"
        count={`${records.filter((record) => record.state === 'seen').length} of ${records.length} seen`}
        actions={<CopyTextButton text={zoneText(records)}>Copy as zone file</CopyTextButton>}
      >
        <p className="t13 t2 mb-2">
          Add them where the DNS of the domain is kept. Wardpost reads DNS only; it changes nothing.
        </p>
        <div className="dnsbox">
          <DnsRecords records={records} />
        </div>
      </Section>
      <Verification domain={domain} />
      <Policy domain={domain} />
    </>
  )
}

function Verification({ domain }: { domain: Domain }) {
  const me = useMe()
  const can = useCan()
  const verify = useMutation({
    mutationFn: (by_hand: boolean) =>
      api.post<Domain>(`/v1/domains/${domain.id}/verify`, by_hand ? { by_hand: true } : {}),
    onSuccess: async (found) => {
      await refresh('/v1/domains')
      notify(
        found.status === 'verified'
          ? { kind: 'pass', text: `${found.unicode_name} is verified` }
          : { kind: 'info', text: found.verification.detail ?? 'The record is not there yet' },
      )
    },
  })
  const { checked_at, detail } = domain.verification
  const reason = can('domains:write').reason
  return (
    <Section title="Verification">
      <p className="t13 t2">
        {domain.status === 'verified'
          ? 'Verified: the record was found. It can stay or go.'
          : 'Not verified. Until the record is found, another organisation on this installation could claim the name too.'}
      </p>
      <p className="t12 t3 mt-1">
        Checked <Time at={checked_at} as="exact" />
        {detail === null ? '' : `. ${detail}`}
      </p>
      {verify.error !== null && (
        <div className="mt-2">
          <ProblemNotice error={verify.error} />
        </div>
      )}
      <div className="flex wrap mt-3">
        {domain.status === 'pending' ? (
          <Button
            kind="primary"
            small
            icon="refresh"
            busy={verify.isPending}
            reason={reason}
            onClick={() => verify.mutate(false)}
          >
            {verify.isPending ? 'Looking it up' : 'Verify now'}
          </Button>
        ) : (
          <CheckButton domain={domain} />
        )}
        {domain.status === 'pending' && me.user?.is_operator === true && (
          <Button small reason={reason} onClick={() => verify.mutate(true)}>
            Verify by hand
          </Button>
        )}
      </div>
      {domain.status === 'pending' && me.user?.is_operator === true && (
        <p className="t12 t3 mt-2">
          By hand is for networks without a resolver; it is written to the audit chain.
        </p>
      )}
    </Section>
  )
}
