/** The mail that carries a checkpoint to somebody who only has to keep it. */
export function anchorMail(about: {
  line: string
  instance_id: string
  fingerprint: string
  base_url: string
}) {
  const { line, instance_id, fingerprint, base_url } = about
  const text = `This is the daily checkpoint of the audit log of ${base_url} (installation ${instance_id}).

Keep this mail. With it anybody can show that nothing was changed in the log up to now, or that something was:

    wardpost audit verify --against FILE        (FILE holds the line below)

Key: ${fingerprint}

${line}
`
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return {
    subject: `Checkpoint of the audit log of ${new URL(base_url).host}`,
    text,
    html: `<pre>${escaped}</pre>`,
  }
}
