import { Panel } from '../../ui/panel.tsx'
import { Tag } from '../../ui/state.tsx'
import { Inline } from '../docs/prose.tsx'
import type { Setting } from './types.ts'

const SOURCES = { default: 'default', environment: 'environment', flag: 'command line' } as const

function valueText(setting: Setting): string {
  if (setting.secret) return setting.value === null || setting.value === '' ? 'not set' : 'set, not shown'
  if (setting.value === null || setting.value === '') return 'not set'
  return typeof setting.value === 'string' ? setting.value : JSON.stringify(setting.value)
}

/** Settings are fixed at the start: each with what sets it, so that one knows where to change it. */
export function InstanceSettings({ settings }: { settings: readonly Setting[] }) {
  return (
    <Panel title="Settings" sub="read at the start; change the variable or flag, then start again">
      <div className="list">
        <table className="t two">
          <caption className="vh">Settings of this installation</caption>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col" className="p1">
                Comes from
              </th>
              <th scope="col" className="p3">
                Meaning
              </th>
            </tr>
          </thead>
          <tbody>
            {settings.map((setting) => (
              <tr key={setting.name}>
                <td>
                  <span className="mono brk">{setting.env}</span>
                  <span className="sub mono">{setting.flag}</span>
                </td>
                <td className="mono brk">{valueText(setting)}</td>
                <td className="p1">
                  {setting.source === 'default' ? (
                    <span className="t3">{SOURCES.default}</span>
                  ) : (
                    <Tag>{SOURCES[setting.source]}</Tag>
                  )}
                </td>
                <td className="p3 t2 t12">
                  <Inline text={setting.doc} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}
