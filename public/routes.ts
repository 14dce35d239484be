/** Every page of the application: where it is, how it is called, what loads it. */
import type { ComponentType } from 'react'
import type { Crumb } from './ui/tabs.tsx'

export type Area =
  | 'overview'
  | 'alerts'
  | 'domains'
  | 'reports'
  | 'audit'
  | 'webhooks'
  | 'settings'
  | 'account'

type Loader = () => Promise<Record<string, ComponentType>>

export interface PageRoute {
  path: string
  /** The export of the module that is the page. */
  page: string
  load: Loader
  title: string
  area: Area
  /** Names of the parameters below the path, each a route of the same page: a drawer's address. */
  detail?: string
  /** List with drawer: the page fills the width and scrolls with the window. */
  flush?: boolean
  crumbs: readonly Crumb[]
}

const REPORTS: Crumb = { label: 'Reports', href: '/reports' }
const WEBHOOKS: Crumb = { label: 'Webhooks', href: '/webhooks' }
const SETTINGS: Crumb = { label: 'Settings', href: '/settings' }

export const PAGES: readonly PageRoute[] = [
  {
    path: '/',
    page: 'OverviewPage',
    load: () => import('./pages/overview.tsx'),
    title: 'Overview',
    area: 'overview',
    crumbs: [{ label: 'Overview' }],
  },
  {
    path: '/alerts',
    page: 'AlertsPage',
    load: () => import('./pages/alerts.tsx'),
    title: 'Alerts',
    area: 'alerts',
    detail: '$id',
    flush: true,
    crumbs: [{ label: 'Alerts', href: '/alerts' }],
  },
  {
    path: '/domains',
    page: 'DomainsPage',
    load: () => import('./pages/domains.tsx'),
    title: 'Domains',
    area: 'domains',
    detail: '$id',
    flush: true,
    crumbs: [{ label: 'Domains', href: '/domains' }],
  },
  {
    path: '/reports',
    page: 'ReportsPage',
    load: () => import('./pages/reports.tsx'),
    title: 'Reports',
    area: 'reports',
    detail: '$id',
    flush: true,
    crumbs: [REPORTS],
  },
  {
    path: '/reports/upload',
    page: 'UploadPage',
    load: () => import('./pages/upload.tsx'),
    title: 'Upload',
    area: 'reports',
    crumbs: [REPORTS, { label: 'Upload' }],
  },
  {
    path: '/reports/tls',
    page: 'TlsReportsPage',
    load: () => import('./pages/tls.tsx'),
    title: 'TLS reports',
    area: 'reports',
    detail: '$id',
    flush: true,
    crumbs: [REPORTS, { label: 'TLS', href: '/reports/tls' }],
  },
  {
    path: '/reports/failures',
    page: 'FailureReportsPage',
    load: () => import('./pages/failures.tsx'),
    title: 'Failure reports',
    area: 'reports',
    detail: '$id',
    flush: true,
    crumbs: [REPORTS, { label: 'Failure', href: '/reports/failures' }],
  },
  {
    path: '/reports/rejected',
    page: 'RejectedPage',
    load: () => import('./pages/rejected.tsx'),
    title: 'Rejected files',
    area: 'reports',
    flush: true,
    crumbs: [REPORTS, { label: 'Rejected' }],
  },
  {
    path: '/reports/unassigned',
    page: 'UnassignedPage',
    load: () => import('./pages/unassigned.tsx'),
    title: 'Unassigned reports',
    area: 'reports',
    flush: true,
    crumbs: [REPORTS, { label: 'Unassigned' }],
  },
  {
    path: '/audit',
    page: 'AuditPage',
    load: () => import('./pages/audit.tsx'),
    title: 'Audit',
    area: 'audit',
    detail: '$seq',
    flush: true,
    crumbs: [{ label: 'Audit', href: '/audit' }],
  },
  {
    path: '/webhooks',
    page: 'WebhooksPage',
    load: () => import('./pages/webhooks.tsx'),
    title: 'Webhooks',
    area: 'webhooks',
    detail: '$id',
    flush: true,
    crumbs: [WEBHOOKS],
  },
  {
    path: '/webhooks/undelivered',
    page: 'UndeliveredPage',
    load: () => import('./pages/undelivered.tsx'),
    title: 'Not delivered',
    area: 'webhooks',
    flush: true,
    crumbs: [WEBHOOKS, { label: 'Not delivered' }],
  },
  {
    path: '/settings',
    page: 'SettingsPage',
    load: () => import('./pages/settings.tsx'),
    title: 'Settings',
    area: 'settings',
    crumbs: [SETTINGS],
  },
  {
    path: '/settings/notifications',
    page: 'NotificationsPage',
    load: () => import('./pages/notifications.tsx'),
    title: 'Notifications',
    area: 'settings',
    crumbs: [SETTINGS, { label: 'Notifications' }],
  },
  {
    path: '/settings/keys',
    page: 'KeysPage',
    load: () => import('./pages/keys.tsx'),
    title: 'API keys',
    area: 'settings',
    detail: '$id',
    flush: true,
    crumbs: [SETTINGS, { label: 'API keys', href: '/settings/keys' }],
  },
  {
    path: '/settings/users',
    page: 'UsersPage',
    load: () => import('./pages/users.tsx'),
    title: 'Users',
    area: 'settings',
    detail: '$id',
    crumbs: [SETTINGS, { label: 'Users', href: '/settings/users' }],
  },
  {
    path: '/settings/sessions',
    page: 'SessionsPage',
    load: () => import('./pages/sessions.tsx'),
    title: 'Sessions',
    area: 'settings',
    crumbs: [SETTINGS, { label: 'Sessions' }],
  },
  {
    path: '/settings/instance',
    page: 'InstancePage',
    load: () => import('./pages/instance.tsx'),
    title: 'Instance',
    area: 'settings',
    detail: '$tab',
    crumbs: [SETTINGS, { label: 'Instance', href: '/settings/instance' }],
  },
  {
    path: '/account',
    page: 'AccountPage',
    load: () => import('./pages/account.tsx'),
    title: 'Account',
    area: 'account',
    crumbs: [{ label: 'Account' }],
  },
]

/** Pages without the frame: before one is signed in, and the documentation. */
export const BARE_PAGES: readonly { path: string; page: string; load: Loader }[] = [
  { path: '/setup', page: 'SetupPage', load: () => import('./pages/setup.tsx') },
  { path: '/login', page: 'LoginPage', load: () => import('./pages/login.tsx') },
  { path: '/accept', page: 'AcceptPage', load: () => import('./pages/accept.tsx') },
  { path: '/reset', page: 'ResetPage', load: () => import('./pages/reset.tsx') },
  { path: '/docs', page: 'DocsPage', load: () => import('./pages/docs.tsx') },
]
