import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type AnyRoute,
} from '@tanstack/react-router'
import { onLeave, returnTo } from './lib/api.ts'
import { loadAuthState, loadMe } from './lib/me.ts'
import { parseSearch, stringifySearch } from './lib/view.ts'
import { BARE_PAGES, PAGES } from './routes.ts'
import { Shell } from './shell/shell.tsx'
import { BrokenPage, MissingPage } from './shell/fallback.tsx'
import { Overlays } from './ui/menu.tsx'
import { Toasts } from './ui/toast.tsx'

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <Overlays />
      <Toasts />
    </>
  ),
  notFoundComponent: MissingPage,
  errorComponent: BrokenPage,
})

let known = false

/** Inside the frame one is signed in to an instance that is set up; otherwise the way leads elsewhere. */
async function enter(): Promise<void> {
  if (known) return
  const state = await loadAuthState()
  if (state.setup_required) throw redirect({ to: '/setup' })
  if (!state.authenticated) {
    const back = returnTo()
    throw redirect({ href: back === '/' ? '/login' : `/login?next=${encodeURIComponent(back)}` })
  }
  await loadMe()
  known = true
}

/** After a log-out the frame asks again who is there. */
export function forgetSession(): void {
  known = false
}

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: enter,
  errorComponent: BrokenPage,
})

function pageRoutes(): AnyRoute[] {
  return PAGES.map((page) => {
    const route: AnyRoute = createRoute({
      getParentRoute: () => shell,
      path: page.path,
      component: lazyRouteComponent(page.load, page.page),
      errorComponent: BrokenPage,
    })
    if (page.detail === undefined) return route
    // The page itself reads the parameter and shows its drawer; the child is only an address.
    const child = createRoute({ getParentRoute: () => route, path: page.detail, component: () => null })
    return route.addChildren([child])
  })
}

const bare = BARE_PAGES.map((page) =>
  createRoute({
    getParentRoute: () => root,
    path: page.path,
    component: lazyRouteComponent(page.load, page.page),
    errorComponent: BrokenPage,
  }),
)

export const router = createRouter({
  routeTree: root.addChildren([shell.addChildren(pageRoutes()), ...bare]),
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
  defaultPendingMs: 400,
  defaultPendingMinMs: 0,
  defaultPendingComponent: () => <div className="boot">Loading</div>,
})

onLeave((to) => {
  forgetSession()
  void router.navigate({ href: to })
})
