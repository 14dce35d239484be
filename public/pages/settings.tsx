import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../lib/api.ts'
import { count, exact } from '../lib/format.ts'
import { refreshMe, useCan } from '../lib/me.ts'
import { refresh, useGet } from '../lib/query.ts'
import { useTitle } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Props } from '../ui/drawer.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice, ProblemNotice } from '../ui/notice.tsx'
import { PageHead, Panel } from '../ui/panel.tsx'
import { notify } from '../ui/toast.tsx'
import { RetentionPanel } from './settings/retention-panel.tsx'
import type { Retention } from './settings/retention.ts'

interface Settings {
  id: string
  name: string
  plan: string
  limits: {
    domains: number | null
    key_per_minute: number
    tenant_per_minute: number
    phishing_upload_per_minute: number
    detonate_per_hour: number
    threats_query_per_minute: number
  }
  default_compliance_threshold: number
  retention: Retention
  version: number
  created_at: string
  updated_at: string
}

/** /settings: the organisation. */
export function SettingsPage() {
  const can = useCan()
  const { allowed, reason } = can('settings:read')
  const settings = useGet<Settings>('/v1/settings', {}, { enabled: allowed, poll: false })
  useTitle('Settings')
  return (
    <>
      <PageHead title="Organisation" lead="Its name, what counts as good enough, and what the plan allows." />
      <div className="stack">
        {!allowed && <Notice>The settings are not shown: {reason}.</Notice>}
        {settings.error !== null && (
          <ProblemNotice error={settings.error} retry={() => void settings.refetch()} />
        )}
        {settings.data !== undefined && (
          <>
            <GeneralPanel key={`general ${settings.data.version}`} settings={settings.data} />
            <RetentionPanel
              key={`retention ${settings.data.version}`}
              retention={settings.data.retention}
              version={settings.data.version}
            />
            <PlanPanel settings={settings.data} />
          </>
        )}
      </div>
    </>
  )
}

const FIELDS = ['name', 'default_compliance_threshold'] as const

function GeneralPanel({ settings }: { settings: Settings }) {
  const can = useCan()
  const [name, setName] = useState(settings.name)
  const [threshold, setThreshold] = useState(String(settings.default_compliance_threshold))
  const save = useMutation({
    mutationFn: () =>
      api.patch<Settings>(
        '/v1/settings',
        { name: name.trim(), default_compliance_threshold: Number(threshold) },
        { version: settings.version },
      ),
    onSuccess: async () => {
      notify({ kind: 'pass', text: 'Settings saved' })
      await Promise.all([refresh('/v1/settings'), refreshMe()])
    },
  })
  const same = name.trim() === settings.name && Number(threshold) === settings.default_compliance_threshold
  const off = can('settings:write').reason
  const invalid =
    threshold.trim() === '' || !Number.isFinite(Number(threshold))
      ? 'enter a number from 0 to 100'
      : undefined
  const reason = off ?? invalid ?? (same ? 'nothing has changed' : undefined)
  return (
    <Panel title="General">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (reason === undefined) save.mutate()
        }}
      >
        <div className="grid grid-2">
          <TextField
            label="Name of the organisation"
            maxLength={100}
            readOnly={off !== undefined}
            hint="Shown in the corner, in invitations and in exports"
            value={name}
            onText={setName}
            error={fieldError(save.error, 'name')}
          />
          <TextField
            label="Compliance limit for new domains, %"
            inputMode="decimal"
            readOnly={off !== undefined}
            hint="Below it a domain needs attention. Each domain can have its own"
            value={threshold}
            onText={setThreshold}
            error={fieldError(save.error, 'default_compliance_threshold')}
          />
        </div>
        {save.error !== null && !isAllFields(save.error, FIELDS) && <ProblemNotice error={save.error} />}
        <div className="flex wrap">
          <Button
            type="submit"
            kind="primary"
            busy={save.isPending}
            reason={reason}
            showReason={off !== undefined}
          >
            Save
          </Button>
          <span className="t12 t3">Last changed {exact(settings.updated_at)}</span>
        </div>
      </form>
    </Panel>
  )
}

function PlanPanel({ settings }: { settings: Settings }) {
  const { limits } = settings
  const plan = settings.plan.slice(0, 1).toUpperCase() + settings.plan.slice(1)
  return (
    <Panel title="Plan and limits" sub="set by the operator of this installation">
      <div className="kv">
        <Props
          items={[
            ['Plan', plan],
            ['Domains', limits.domains === null ? 'no limit' : count(limits.domains)],
            ['Requests, each key', `${count(limits.key_per_minute)} a minute`],
            ['Requests, all', `${count(limits.tenant_per_minute)} a minute, all keys and sessions together`],
            [
              'Id',
              <span key="id" className="flex g4">
                <span className="mono">{settings.id}</span>
                <CopyButton text={settings.id} what="id" />
              </span>,
            ],
            ['Since', exact(settings.created_at)],
          ]}
        />
      </div>
    </Panel>
  )
}
