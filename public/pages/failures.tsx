export function FailureReportsPage() {
  return null
}
