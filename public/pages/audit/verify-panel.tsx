import { useEffect, useRef } from 'react'
import { count } from '../../lib/format.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Glyph } from '../../ui/icons.tsx'
import { A } from '../../ui/link.tsx'
import { State } from '../../ui/state.tsx'
import type { Verification } from './types.ts'
import { groupHash, readVerdict } from './verdict.ts'

/** What a verification found: a sentence first, then questions with answers, then the hash to keep. */
export function VerifyPanel({ result, onClose }: { result: Verification; onClose: () => void }) {
  const verdict = readVerdict(result)
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [result])
  const { head, first_bad } = result
  return (
    <section className={result.ok ? 'panel verify' : 'panel verify is-bad'} aria-label="Verification result">
      <div className="verify__t">
        <span className={result.ok ? 'verify__m c-pass' : 'verify__m c-fail'}>
          <Glyph name={result.ok ? 'pass' : 'fail'} />
        </span>
        <div className="grow">
          <h2 ref={title} tabIndex={-1}>
            {verdict.title}
          </h2>
          <p>{verdict.lead}</p>
        </div>
        <Button small onClick={onClose}>
          Close
        </Button>
      </div>
      <div className="list">
        <table className="t vq">
          <caption className="vh">Questions and answers</caption>
          <thead>
            <tr>
              <th scope="col">Question</th>
              <th scope="col">Answer</th>
              <th scope="col" className="p2">
                How it was checked
              </th>
            </tr>
          </thead>
          <tbody>
            {verdict.rows.map((row) => (
              <tr key={row.question}>
                <td>{row.question}</td>
                <td>
                  <State kind={row.kind}>{row.answer}</State>
                </td>
                <td className="t2 t12 p2">{row.how}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="verify__f">
        {head === null ? null : (
          <div>
            <span className="t12 t3">Head of the chain at {count(head.seq)}</span>
            <p className="mono hash">
              {groupHash(head.hash)} <CopyButton text={head.hash} what="hash" />
            </p>
          </div>
        )}
        <div className="t12 t3">
          {first_bad === undefined ? (
            'Keep the head elsewhere, on paper or in another system. As long as a later export shows the same hash at that number, nothing before it was rewritten.'
          ) : (
            <>
              Leave everything as it is, export the log and compare it with a copy kept elsewhere.{' '}
              <A href={`/audit/${first_bad.seq}`}>Open entry {count(first_bad.seq)}</A>
            </>
          )}
        </div>
      </div>
      <div className="panel__f">What this does not show: that what a person did was right.</div>
    </section>
  )
}
