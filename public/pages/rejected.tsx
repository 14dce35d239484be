export function RejectedPage() {
  return null
}
