import { useGet } from '../../lib/query.ts'
import type { Summary } from '../../lib/types.ts'
import { Tabs } from '../../ui/tabs.tsx'

/** The lists under Reports. */
export function ReportTabs({ current }: { current: string }) {
  const summary = useGet<Summary>('/v1/reports/summary').data
  return (
    <div className="tabsbar">
      <Tabs
        label="Kinds of reports"
        current={current}
        tabs={[
          { id: 'dmarc', label: 'DMARC', href: '/reports' },
          { id: 'tls', label: 'TLS', href: '/reports/tls' },
          { id: 'failures', label: 'Failure', href: '/reports/failures' },
          {
            id: 'unassigned',
            label: 'Unassigned',
            href: '/reports/unassigned',
            count: summary?.unassigned_reports,
          },
          {
            id: 'rejected',
            label: 'Rejected files',
            href: '/reports/rejected',
            count: summary?.rejected_files,
          },
        ]}
      />
    </div>
  )
}
