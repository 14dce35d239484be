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
    void router.navigate({ href, replace })
  }
  return <a {...rest} href={href} onClick={follow} />
}
