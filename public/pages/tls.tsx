export function TlsReportsPage() {
  return null
}
