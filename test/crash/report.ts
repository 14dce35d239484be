/** A small, valid aggregate report (RFC 7489 appendix C) about a domain. */
export function aggregateXml(domain: string, report_id: string, begin = 1_790_000_000, count = 3): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata>
    <org_name>Receiver</org_name><email>dmarc@receiver.example</email><report_id>${report_id}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct></policy_published>
  <record>
    <row>
      <source_ip>192.0.2.10</source_ip><count>${count}</count>
      <policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated>
    </row>
    <identifiers><header_from>${domain}</header_from></identifiers>
    <auth_results><dkim><domain>${domain}</domain><selector>s1</selector><result>pass</result></dkim><spf><domain>${domain}</domain><result>fail</result></spf></auth_results>
  </record>
</feedback>
`
}
