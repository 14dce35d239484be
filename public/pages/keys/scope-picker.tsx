import { useState } from 'react'
import { covers } from '../../lib/me.ts'
import { Seg } from '../../ui/button.tsx'
import { Check } from '../../ui/field.tsx'
import { Tag } from '../../ui/state.tsx'
import { PRESETS, groupScopes, samePreset } from './scopes.ts'
import type { ScopeRow } from './scopes.ts'

interface Props {
  items: readonly ScopeRow[]
  /** The scopes of who picks: a key cannot be given more. */
  own: readonly string[]
  value: string[]
  onChange: (scopes: string[]) => void
  error?: string | undefined
}

const CUSTOM = 'Choose'

/** Ready-made sets first; "Choose" shows every scope by area. */
export function ScopePicker({ items, own, value, onChange, error }: Props) {
  const presets = PRESETS.filter((preset) => preset.scopes.every((scope) => mayGive(own, scope, items)))
  const preset = presets.find((entry) => samePreset(entry.scopes, value))
  const [choosing, setChoosing] = useState(preset === undefined)
  const pick = (name: string) => {
    const chosen = presets.find((entry) => entry.name === name)
    setChoosing(chosen === undefined)
    if (chosen !== undefined) onChange([...chosen.scopes])
    // A wildcard is a set of its own: choosing one by one starts from nothing.
    else if (value.some((scope) => scope.startsWith('*'))) onChange([])
  }
  return (
    <fieldset className="scopes">
      <legend className="label">What it may do</legend>
      <Seg
        label="Ready-made sets of scopes"
        value={choosing ? CUSTOM : (preset?.name ?? CUSTOM)}
        options={[...presets.map((entry) => entry.name), CUSTOM].map((name) => ({
          value: name,
          label: name,
        }))}
        onChange={pick}
      />
      <p className="t12 t3">{choosing ? 'Tick what the program needs and nothing more' : preset?.why}</p>
      {choosing ? (
        <ScopeGrid items={items} own={own} value={value} onChange={onChange} />
      ) : (
        <span className="flex wrap g4">
          {value.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </span>
      )}
      {error === undefined ? null : (
        <p className="t12 c-critical" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}

/** A wildcard may be given by who holds all that it stands for. */
function mayGive(own: readonly string[], scope: string, items: readonly ScopeRow[]): boolean {
  if (scope === '*') return items.every((item) => item.scope.startsWith('*') || covers(own, item.scope))
  if (scope === '*:read')
    return items.every((item) => !item.scope.endsWith(':read') || covers(own, item.scope))
  return covers(own, scope)
}

function ScopeGrid({ items, own, value, onChange }: Omit<Props, 'error'>) {
  const toggle = (scope: string, on: boolean) =>
    onChange(on ? [...value, scope] : value.filter((entry) => entry !== scope))
  return (
    <div className="scopes__g" tabIndex={0} role="group" aria-label="Scopes by area">
      {groupScopes(items).map((area) => (
        <div key={area.area} className="scopes__a" role="group" aria-label={area.title}>
          <span className="t13">{area.title}</span>
          <span className="flex wrap g16">
            {area.scopes.map(({ scope, description }) => {
              const lacking = !covers(own, scope)
              return (
                <span key={scope} title={lacking ? `You lack ${scope} yourself` : description}>
                  <Check
                    label={
                      <>
                        <span className="vh">{area.title}: </span>
                        {scope.split(':')[1] ?? scope}
                        <span className="vh">
                          . {lacking ? `Not available: you lack ${scope} yourself` : description}
                        </span>
                      </>
                    }
                    checked={value.includes(scope)}
                    disabled={lacking}
                    onValue={(on) => toggle(scope, on)}
                  />
                </span>
              )
            })}
          </span>
        </div>
      ))}
    </div>
  )
}
