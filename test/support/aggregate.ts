/** A small aggregate report as receivers write it. */
export interface AggregateSpec {
  id?: string
  org?: string
  domain?: string
  /** Seconds since 1970. */
  begin?: number
  end?: number
  count?: number
  ip?: string
  dkim?: 'pass' | 'fail'
  spf?: 'pass' | 'fail'
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

export function aggregate(spec: AggregateSpec = {}): string {
  const begin = spec.begin ?? Date.UTC(2026, 0, 10) / 1000
  const domain = spec.domain ?? 'example.com'
  const { dkim = 'pass', spf = 'fail' } = spec
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata>
    <org_name>${escaped(spec.org ?? 'Receiver One')}</org_name>
    <email>dmarc@receiver-one.example</email>
    <report_id>${escaped(spec.id ?? 'r1')}</report_id>
    <date_range><begin>${begin}</begin><end>${spec.end ?? begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct></policy_published>
  <record>
    <row>
      <source_ip>${spec.ip ?? '192.0.2.1'}</source_ip><count>${spec.count ?? 1}</count>
      <policy_evaluated><disposition>none</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated>
    </row>
    <identifiers><header_from>${domain}</header_from></identifiers>
    <auth_results>
      <dkim><domain>${domain}</domain><selector>s1</selector><result>${dkim}</result></dkim>
      <spf><domain>${domain}</domain><scope>mfrom</scope><result>${spf}</result></spf>
    </auth_results>
  </record>
</feedback>
`
}
