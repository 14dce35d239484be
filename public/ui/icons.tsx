/** Our own icons: 16 px, a 1.5 px line; glyphs: 12 px, filled. Never the only sign of a meaning. */
import type { ReactNode } from 'react'

const ICONS = {
  alerts: <path d="M3.500 11.500h9l-1.200-2V6.800a3.300 3.300 0 0 0-6.600 0v2.700zM6.600 13.600h2.800" />,
  archive: <path d="M2.5 3h11v3h-11zM3.5 6v7.500h9V6M6.5 8.700h3" />,
  audit: (
    <path d="M6.7 9.300a2.7 2.7 0 0 0 3.8 0l2-2a2.7 2.7 0 0 0-3.8-3.800l-.8.8M9.3 6.700a2.7 2.7 0 0 0-3.8 0l-2 2a2.7 2.7 0 0 0 3.8 3.800l.8-.8" />
  ),
  book: (
    <path d="M3 3.500c2-.8 3.600-.6 5 .4 1.400-1 3-1.200 5-.4v9c-2-.8-3.600-.6-5 .4-1.400-1-3-1.200-5-.4zM8 4v9" />
  ),
  check: <path d="m3 8.500 3.300 3.300L13 4.800" />,
  columns: <path d="M2.500 3h11v10h-11zM6.200 3v10M9.800 3v10" />,
  copy: <path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" />,
  data: <path d="M2.500 3h11v10h-11zM2.500 6.300h11M2.500 9.700h11M6.500 3v10" />,
  domains: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M2.300 8h11.400M8 2.300c2.200 2 2.200 9.400 0 11.400M8 2.300c-2.200 2-2.200 9.400 0 11.400" />
    </>
  ),
  down: <path d="M3.500 6 8 10.500 12.500 6" />,
  download: <path d="M8 2.500v8M4.800 7.300 8 10.500l3.200-3.200M2.500 13.500h11" />,
  edit: <path d="M3 13l.6-2.800 7.400-7.400 2.200 2.200-7.400 7.400zM9.600 4.200l2.200 2.200" />,
  exit: <path d="M9.500 3v-.5h-7v11h7V13M6 8h7.500M10.800 5.200 13.500 8l-2.700 2.800" />,
  file: <path d="M3.500 2.500h6l3 3v8h-9zM9.500 2.500v3h3" />,
  filter: <path d="M2.500 4h11M4.500 8h7M6.500 12h3" />,
  flag: <path d="M3.500 14V2.500h8l-1.500 3 1.500 3h-8" />,
  info: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 7.300V11M8 5v.6" />
    </>
  ),
  instance: <path d="M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01" />,
  key: (
    <>
      <circle cx="5" cy="11" r="2.500" />
      <path d="m6.800 9.200 6-6M10.500 5.500l2 2" />
    </>
  ),
  left: <path d="M10 3.500 5.500 8l4.500 4.500" />,
  link: (
    <path d="M9.500 6.500 6.500 9.500M7 4.500l1.500-1.500a2.500 2.500 0 0 1 4 4L11 8.500M9 11.500 7.500 13a2.500 2.500 0 0 1-4-4L5 7.500" />
  ),
  lock: <path d="M3.500 7.500h9v6h-9zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500" />,
  mail: <path d="M2 4.500h12v8H2zM2.200 4.800 8 9.200l5.800-4.400" />,
  menu: <path d="M2.500 4.500h11M2.500 8h11M2.500 11.500h11" />,
  more: <path d="M3 8h.01M8 8h.01M13 8h.01" strokeWidth="2.2" strokeLinecap="round" />,
  overview: <path d="M2.500 13.500v-4M6.200 13.500v-8M9.800 13.500V8M13.500 13.500v-11" />,
  pause: <path d="M5.500 3.500v9M10.500 3.500v9" />,
  plus: <path d="M8 3v10M3 8h10" />,
  refresh: <path d="M13 8a5 5 0 1 1-1.600-3.700M13 2.500v3h-3" />,
  reports: <path d="M3.500 2.500h6l3 3v8h-9zM9.500 2.500v3h3M5.800 8.500h4.400M5.800 11h4.400" />,
  right: <path d="M6 3.500 10.500 8 6 12.500" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.200 10.200 3.600 3.600" />
    </>
  ),
  sessions: <path d="M2.500 3h11v7.500h-11zM6 13.500h4M8 10.500v3" />,
  send: <path d="M14 2 7 9M14 2 9.500 14 7 9 2 6.500z" />,
  settings: (
    <>
      <path d="M2 4.500h6.500M12 4.500h2M2 11.500h2M7.500 11.500H14" />
      <circle cx="10.2" cy="4.5" r="1.7" />
      <circle cx="5.7" cy="11.5" r="1.7" />
    </>
  ),
  theme: (
    <>
      <circle cx="8" cy="8" r="5.500" />
      <path d="M8 2.500v11a5.500 5.500 0 0 0 0-11z" fill="currentColor" />
    </>
  ),
  trash: <path d="M2.500 4.500h11M6 4.500v-2h4v2M4 4.500l.7 9h6.600l.7-9" />,
  up: <path d="M3.500 10 8 5.500l4.500 4.500" />,
  upload: <path d="M8 11V2.800M4.800 6 8 2.800 11.200 6M2.500 13.500h11" />,
  user: (
    <>
      <circle cx="8" cy="5.5" r="2.700" />
      <path d="M2.800 13.700c.6-2.900 2.500-4.300 5.200-4.300s4.600 1.400 5.200 4.300" />
    </>
  ),
  users: (
    <>
      <circle cx="6" cy="5.2" r="2.400" />
      <path d="M1.800 13.300c.3-2.600 1.900-4 4.200-4s3.900 1.400 4.200 4M10.600 3a2.300 2.300 0 0 1 0 4.400M11.800 9.700c1.400.5 2.200 1.700 2.400 3.600" />
    </>
  ),
  webhooks: (
    <>
      <circle cx="3.8" cy="12" r="1.8" />
      <circle cx="12.2" cy="12" r="1.8" />
      <circle cx="8" cy="4" r="1.8" />
      <path d="M7.2 5.700 4.700 10.400M8.800 5.700l2.500 4.700M5.600 12h4.800" />
    </>
  ),
  x: <path d="m4 4 8 8M12 4l-8 8" />,
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof ICONS

/** Decorative: name the control that carries it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="i"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {ICONS[name]}
    </svg>
  )
}

const line = { fill: 'none', stroke: 'currentColor' } as const

const GLYPHS = {
  critical: (
    <path
      fillRule="evenodd"
      d="M1.500.500h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM5.200 2.300v4.700h1.600V2.300zM5.200 8.200v1.600h1.600V8.200z"
    />
  ),
  high: <path d="M6 .7 11.700 11H.3z" />,
  medium: <path d="M6 .3 11.700 6 6 11.700.3 6z" />,
  low: <path d="M.3 1.500h11.400L6 11.300z" {...line} strokeWidth="1.500" strokeLinejoin="round" />,
  info: <circle cx="6" cy="6" r="4.250" {...line} strokeWidth="1.500" />,
  pass: <path d="m1.200 6.300 3.200 3.200 6.400-7" {...line} strokeWidth="1.800" />,
  fail: <path d="m1.800 1.800 8.400 8.400M10.200 1.800 1.800 10.200" {...line} strokeWidth="1.800" />,
  pending: <circle cx="6" cy="6" r="4.600" {...line} strokeWidth="1.500" strokeDasharray="2.400 1.900" />,
  warn: <path d="M6 1.200 11.200 10.700H.8z" {...line} strokeWidth="1.400" strokeLinejoin="round" />,
  none: <path d="M2 6h8" {...line} strokeWidth="1.600" />,
  half: (
    <>
      <circle cx="6" cy="6" r="4.600" {...line} strokeWidth="1.500" />
      <path d="M6 1.400a4.600 4.600 0 0 1 0 9.200z" />
    </>
  ),
  dot: <circle cx="6" cy="6" r="3.500" />,
  pause: <path d="M2.500 1.500h2.500v9H2.500zM7 1.500h2.500v9H7z" />,
} satisfies Record<string, ReactNode>

export type GlyphName = keyof typeof GLYPHS

export function Glyph({ name }: { name: GlyphName }) {
  return (
    <svg className="g" viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
      {GLYPHS[name]}
    </svg>
  )
}

/** The shield of the product. */
export function Mark() {
  return (
    <svg
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      aria-hidden="true"
    >
      <path d="M10 1.500 17.500 4v6c0 4.200-3 7-7.500 8.500C5.500 17 2.500 14.200 2.500 10V4z" />
      <path d="M10 5.500v9M6.500 8v4M13.500 8v4" />
    </svg>
  )
}
