import { findingsOf, recordText, type Finding } from '../../lib/findings.ts'
import { daysAgo } from '../../lib/format.ts'
import { useGet } from '../../lib/query.ts'
import type { Domain, Page, Source } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { LinkButton } from '../../ui/button.tsx'
import { CopyTextButton, RecordBox } from '../../ui/copy.tsx'
import { Disclosure, Section } from '../../ui/drawer.tsx'
import { Severity } from '../../ui/state.tsx'
import { CheckButton } from './drawer.tsx'

/** What / why it matters / how to fix, most severe first; the worst is open. */
export function Findings({ domain }: { domain: Domain }) {
  const sources = useGet<Page<Source>>(`/v1/domains/${domain.id}/sources`, {
    sort: '-fail',
    from: daysAgo(30),
    limit: 50,
  })
  const findings = findingsOf(domain, sources.data?.items ?? [])
  if (findings.length === 0) return null
  return (
    <Section
      title="Findings"
      count={findings.length === 1 ? '1' : `${findings.length}, most severe first`}
      actions={<CopyTextButton text={textOf(domain, findings)}>Copy as text</CopyTextButton>}
    >
      {findings.map((finding, index) => (
        <Disclosure
          key={finding.id}
          open={index === 0 && (finding.level === 'critical' || finding.level === 'high')}
          summary={
            <>
              <Severity level={finding.level} />
              <span className="grow med">{finding.title}</span>
            </>
          }
        >
          <Detail domain={domain} finding={finding} />
        </Disclosure>
      ))}
    </Section>
  )
}

function Detail({ domain, finding }: { domain: Domain; finding: Finding }) {
  const view = useView()
  return (
    <>
      <dl className="wwh">
        <dt>What</dt>
        <dd>{finding.what}</dd>
        <dt>Why it matters</dt>
        <dd>{finding.why}</dd>
        <dt>How to fix</dt>
        <dd>
          {finding.how.length === 1 ? (
            finding.how[0]
          ) : (
            <ol className="ol">
              {finding.how.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          )}
          {finding.record !== undefined && (
            <div className="mt-2">
              <RecordBox text={recordText(finding.record.parts)} what="record">
                <span className="t3">{finding.record.name}. TXT</span>
                {'\n'}
                {finding.record.parts.map((part) => {
                  const key = `${part.kind} ${part.text}`
                  if (part.kind === 'ins') return <ins key={key}>{part.text}</ins>
                  if (part.kind === 'del') return <del key={key}>{part.text}</del>
                  return <span key={key}>{part.text}</span>
                })}
              </RecordBox>
            </div>
          )}
        </dd>
      </dl>
      <div className="flex wrap mt-3">
        {finding.record === undefined &&
        (finding.id.startsWith('partly-') || finding.id.startsWith('stranger-')) ? (
          <LinkButton small href={view.with({ tab: 'sources' })}>
            Show the senders
          </LinkButton>
        ) : (
          <CheckButton domain={domain} />
        )}
      </div>
    </>
  )
}

/** For a ticket or a mail to whoever keeps the DNS. */
function textOf(domain: Domain, findings: readonly Finding[]): string {
  const parts = findings.map((finding) => {
    const record =
      finding.record === undefined
        ? []
        : [`${finding.record.name}. TXT "${recordText(finding.record.parts)}"`]
    return [`[${finding.level}] ${finding.title}`, finding.what, finding.why, ...finding.how, ...record].join(
      '\n',
    )
  })
  return `${domain.name}\n\n${parts.join('\n\n')}\n`
}
