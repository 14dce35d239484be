import { useState } from 'react'
import { relative } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { useGet } from '../../lib/query.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { Drawer, Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { EditKey, RevokeKey, RollKey, ScopeTags } from './dialogs.tsx'
import { maskedKey } from './types.ts'
import type { Key, NewKey } from './types.ts'

export function KeyState({ item }: { item: Key }) {
  if (item.status === 'revoked') return <State kind="none">Revoked</State>
  if (item.status === 'expired') return <State kind="warn">Expired</State>
  if (item.replaced_by !== null) return <State kind="half">Being replaced</State>
  return <State kind="pass">Active</State>
}

interface DrawerProps {
  id: string
  list: readonly Key[]
  onCreated: (key: NewKey) => void
}

/** One key beside its list. */
export function KeyDrawer({ id, list, onCreated }: DrawerProps) {
  const view = useView()
  const { data: item, error } = useGet<Key>(`/v1/settings/keys/${id}`)
  const close = view.at('/settings/keys')
  if (item === undefined) {
    return (
      <Drawer title="API key" close={close}>
        <div className="pad">
          {error === null ? <span className="sk" /> : <ProblemNotice error={error} />}
        </div>
      </Drawer>
    )
  }
  const at = list.findIndex((row) => row.id === id)
  const neighbour = (step: number) => {
    const row = at === -1 ? undefined : list[at + step]
    return row === undefined ? undefined : view.at(`/settings/keys/${row.id}`)
  }
  return (
    <KeyDetail item={item} close={close} previous={neighbour(-1)} next={neighbour(1)} onCreated={onCreated} />
  )
}

interface DetailProps {
  item: Key
  close: string
  previous: string | undefined
  next: string | undefined
  onCreated: (key: NewKey) => void
}

function KeyDetail({ item, close, previous, next, onCreated }: DetailProps) {
  const can = useCan()
  const [dialog, setDialog] = useState<'edit' | 'roll' | 'revoke'>()
  const over = item.status === 'active' ? undefined : `it is ${item.status}`
  const reason = can('settings:write').reason ?? over
  const done = () => setDialog(undefined)
  return (
    <Drawer
      title={item.name}
      sub={<span className="mono">{maskedKey(item)}</span>}
      tag={<KeyState item={item} />}
      close={close}
      previous={previous}
      next={next}
      actions={
        <>
          <Button icon="refresh" reason={reason} onClick={() => setDialog('roll')}>
            Roll
          </Button>
          <Button icon="edit" reason={reason} onClick={() => setDialog('edit')}>
            Change
          </Button>
          <Button kind="danger" icon="trash" reason={reason} onClick={() => setDialog('revoke')}>
            Revoke
          </Button>
        </>
      }
    >
      <KeyFacts item={item} />
      {dialog === 'edit' && <EditKey item={item} onClose={done} />}
      {dialog === 'roll' && (
        <RollKey
          item={item}
          onClose={done}
          onCreated={(key) => {
            done()
            onCreated(key)
          }}
        />
      )}
      {dialog === 'revoke' && <RevokeKey item={item} onClose={done} onRoll={() => setDialog('roll')} />}
    </Drawer>
  )
}

function KeyFacts({ item }: { item: Key }) {
  const mono = (text: string) => <span className="mono">{text}</span>
  const exact = (at: string) => <Time at={at} as="exact" />
  return (
    <>
      <Section title="May do">
        <ScopeTags scopes={item.scopes} />
      </Section>
      <Section title="Use">
        <Props
          items={[
            ['Last used', item.last_used_at === null ? 'never' : relative(item.last_used_at)],
            item.last_used_ip !== null && ['From', mono(item.last_used_ip)],
            [
              'Networks',
              item.allowed_cidrs.length === 0 ? 'from anywhere' : mono(item.allowed_cidrs.join(', ')),
            ],
            ['Expires', item.expires_at === null ? 'never' : exact(item.expires_at)],
          ]}
        />
      </Section>
      <Section title="Life">
        <Props
          items={[
            ['Created', exact(item.created_at)],
            ['By', item.created_by?.name ?? 'command line'],
            item.revoked_at !== null && ['Revoked', exact(item.revoked_at)],
            item.replaced_by !== null && [
              'Replaced by',
              <A key="new" href={`/settings/keys/${item.replaced_by}`}>
                the new key
              </A>,
            ],
            [
              'Its entries',
              <A key="log" href={`/audit?q=${item.id}`}>
                in the audit log
              </A>,
            ],
          ]}
        />
      </Section>
      <div className="sec">
        <RawRecord path={`/v1/settings/keys/${item.id}`} value={item} />
      </div>
    </>
  )
}
