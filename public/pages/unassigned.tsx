export function UnassignedPage() {
  return null
}
