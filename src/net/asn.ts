/**
 * Who announces an address, from a table the operator brings (MaxMind format: GeoLite2-ASN, IPinfo Lite, DB-IP).
 * It is read once into memory; no address leaves the machine.
 */
import { type AsnResponse, open } from 'maxmind'

export interface NetworkTable {
  /** For people: where it is from and how old. */
  detail: string
  /** `AS15169 Google LLC`, or null when the table does not know. Never throws. */
  lookup(ip: string): string | null
}

/** Opens `WARDPOST_ASN_DB`. Throws when the file is missing or is no MaxMind database. */
export async function openNetworkTable(path: string): Promise<NetworkTable> {
  type Row = AsnResponse & { asn?: string; as_name?: string }
  const reader = await open<Row>(path)
  const { databaseType, buildEpoch } = reader.metadata
  return {
    detail: `${databaseType}, built ${new Date(buildEpoch).toISOString().slice(0, 10)}`,
    lookup(ip) {
      try {
        const row = reader.get(ip)
        if (row === null) return null
        const number = row.autonomous_system_number
        const asn = number === undefined ? row.asn : `AS${number}`
        const name = row.autonomous_system_organization ?? row.as_name
        return asn === undefined ? (name ?? null) : `${asn} ${name ?? ''}`.trim()
      } catch {
        return null
      }
    },
  }
}
