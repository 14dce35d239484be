/** Blocks of the small Markdown that descriptions use. Our own document, yet only text ever reaches the page. */
export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] }
  | { kind: 'code'; text: string }
  | { kind: 'table'; head: string[]; rows: string[][] }

export type Span =
  | { kind: 'text' | 'code' | 'strong' | 'em'; text: string }
  | { kind: 'link'; text: string; href: string }

const cells = (line: string): string[] =>
  line
    .trim()
    .replaceAll(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

const LIST_ITEM = /^\s*(?:[-*]|(\d+)\.)\s+(.*)$/
const TABLE_RULE = /^\s*\|?[\s:|-]*-[\s:|-]*$/

export function readBlocks(source: string): Block[] {
  const lines = source.replaceAll('\r\n', '\n').split('\n')
  const blocks: Block[] = []
  let at = 0
  const takeWhile = (test: (line: string) => boolean): string[] => {
    const start = at
    while (at < lines.length && test(lines[at] ?? '')) at++
    return lines.slice(start, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const heading = /^(#{1,4})\s+(.*)$/.exec(line)
    if (line.trim() === '') {
      at++
    } else if (line.startsWith('```')) {
      at++
      blocks.push({ kind: 'code', text: takeWhile((next) => !next.startsWith('```')).join('\n') })
      at++
    } else if (heading !== null) {
      at++
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' })
    } else if (
      line.includes('|') &&
      TABLE_RULE.test(lines[at + 1] ?? '') &&
      (lines[at + 1] ?? '').includes('|')
    ) {
      const [head = '', , ...rows] = takeWhile((next) => next.includes('|'))
      blocks.push({ kind: 'table', head: cells(head), rows: rows.map(cells) })
    } else if (LIST_ITEM.test(line)) {
      blocks.push(readList(takeWhile((next) => next.trim() !== '')))
    } else {
      const text = takeWhile(
        (next) => next.trim() !== '' && !/^(#{1,4}\s|```)/.test(next) && !LIST_ITEM.test(next),
      )
      blocks.push({ kind: 'paragraph', text: text.join(' ') })
    }
  }
  return blocks
}

function readList(lines: string[]): Block {
  const items: string[] = []
  let ordered = false
  for (const line of lines) {
    const item = LIST_ITEM.exec(line)
    if (item === null) items.push(`${items.pop() ?? ''} ${line.trim()}`)
    else {
      ordered ||= item[1] !== undefined
      items.push(item[2] ?? '')
    }
  }
  return { kind: 'list', ordered, items }
}

/** Only links into this site, to an anchor or over https are links; the rest stays text. */
export function readSpans(text: string): Span[] {
  const spans: Span[] = []
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:https:\/\/|\/|#)[^)\s]*)\)|\*([^*\s][^*]*)\*/g
  let from = 0
  for (const found of text.matchAll(pattern)) {
    if (found.index > from) spans.push({ kind: 'text', text: text.slice(from, found.index) })
    const [whole, code, strong, label, href, em] = found
    if (code !== undefined) spans.push({ kind: 'code', text: code })
    else if (strong !== undefined) spans.push({ kind: 'strong', text: strong })
    else if (label !== undefined && href !== undefined) spans.push({ kind: 'link', text: label, href })
    else spans.push({ kind: 'em', text: em ?? whole })
    from = found.index + whole.length
  }
  if (from < text.length) spans.push({ kind: 'text', text: text.slice(from) })
  return spans
}
