export function DomainsPage() {
  return null
}
