import { explain } from '../lib/api.ts'
import { useTitle } from '../lib/view.ts'
import { Button, LinkButton } from '../ui/button.tsx'

/** An address that leads nowhere. */
export function MissingPage() {
  useTitle('Not found')
  return (
    <main id="main" className="gate">
      <div className="gate__in">
        <h1>There is no such page</h1>
        <p className="t2">The address may have been shortened, or what it showed is gone.</p>
        <div>
          <LinkButton kind="primary" href="/">
            Overview
          </LinkButton>
        </div>
      </div>
    </main>
  )
}

/** A page that failed to show; the rest of the application is not affected. */
export function BrokenPage({ error }: { error: unknown }) {
  useTitle('Problem')
  return (
    <div className="gate">
      <div className="gate__in" role="alert">
        <h1>This page could not be shown</h1>
        <p className="t2">{explain(error)}</p>
        <div className="flex">
          <Button kind="primary" onClick={() => location.reload()}>
            Load again
          </Button>
          <LinkButton href="/">Overview</LinkButton>
        </div>
      </div>
    </div>
  )
}
