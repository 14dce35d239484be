import { useRouter } from '@tanstack/react-router'
import type { ComponentProps, MouseEvent } from 'react'

type Props = ComponentProps<'a'> & { href: string; replace?: boolean }

/**
 * A link inside the application: a real `<a>`, so that it can be copied, opened elsewhere and read; a plain click
 * stays in the page. Addresses of other origins and of downloads are left to the browser.
 */
export function A({ href, replace = false, onClick, ...rest }: Props) {
  const router = useRouter()
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0
    if (event.defaultPrevented || modified || !href.startsWith('/') || rest.download !== undefined) return
    if (rest.target !== undefined && rest.target !== '_self') return
    event.preventDefault()
    // Within an area (a row's drawer, a tab) the scroll position stays; a new area starts at its top.
    const area = (path: string) => path.split('/')[1]?.split('?')[0]
    void router.navigate({ href, replace, resetScroll: area(href) !== area(router.state.location.pathname) })
  }
  return <a {...rest} href={href} onClick={follow} />
}
