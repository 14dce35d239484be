export function AcceptPage() {
  return null
}
