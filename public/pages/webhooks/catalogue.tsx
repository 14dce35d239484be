import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { KindExample, useEventKinds } from './event-picker.tsx'

/** Every kind of event: what it means, its fields, an example. */
export function Catalogue({ onClose }: { onClose: () => void }) {
  const kinds = useEventKinds()
  return (
    <Dialog
      open
      wide
      title="Events that can be sent"
      onClose={onClose}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <p className="t2">
        Each delivery is a POST of one JSON envelope: id, type, created_at, tenant_id and data. The same event
        keeps its id at every attempt, so that a receiver can leave out what it already has.
      </p>
      {kinds.error !== null && <ProblemNotice error={kinds.error} retry={() => void kinds.refetch()} />}
      {kinds.isPending && <span className="sk" />}
      {(kinds.data?.items ?? []).map((kind) => (
        <section key={kind.type} aria-label={kind.title} className="kindx">
          <h3 className="t13 med">{kind.title}</h3>
          <p className="t12 t3 mono brk">{kind.type}</p>
          <p className="t13 t2">{kind.description}</p>
          <KindExample kind={kind} />
        </section>
      ))}
    </Dialog>
  )
}
