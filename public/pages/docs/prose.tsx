import { Fragment } from 'react'
import type { ReactNode } from 'react'
import { readBlocks, readSpans } from './markdown.ts'
import type { Block, Span } from './markdown.ts'

/** One line of description: code, strong and links, nothing else. */
export function Inline({ text }: { text: string }) {
  return readSpans(text).map((span, index) => <Fragment key={index}>{renderSpan(span)}</Fragment>)
}

function renderSpan(span: Span): ReactNode {
  switch (span.kind) {
    case 'code':
      return <code className="doc-code">{span.text}</code>
    case 'strong':
      return <strong>{span.text}</strong>
    case 'em':
      return <em>{span.text}</em>
    case 'link':
      return <a href={span.href}>{span.text}</a>
    case 'text':
      return span.text
    default:
      return null
  }
}

/** Description in Markdown. Headings start at `level`, so that the outline of the page stays whole. */
export function Prose({ source, level }: { source: string; level: 2 | 3 | 4 }) {
  const blocks = readBlocks(source)
  const top = Math.min(...blocks.map((block) => (block.kind === 'heading' ? block.level : 9)))
  return (
    <div className="doc-prose">
      {blocks.map((block, index) => (
        <Fragment key={index}>{renderBlock(block, level - top)}</Fragment>
      ))}
    </div>
  )
}

function renderBlock(block: Block, shift: number): ReactNode {
  switch (block.kind) {
    case 'heading': {
      const Heading = `h${Math.min(6, block.level + shift)}` as 'h2'
      return <Heading>{block.text}</Heading>
    }
    case 'paragraph':
      return (
        <p>
          <Inline text={block.text} />
        </p>
      )
    case 'code':
      return (
        <pre className="raw" tabIndex={0}>
          {block.text}
        </pre>
      )
    case 'list': {
      const List = block.ordered ? 'ol' : 'ul'
      return (
        <List>
          {block.items.map((item, index) => (
            <li key={index}>
              <Inline text={item} />
            </li>
          ))}
        </List>
      )
    }
    case 'table':
      return <PlainTable head={block.head} rows={block.rows} />
    default:
      return null
  }
}

interface TableProps {
  head: string[]
  rows: string[][]
  caption?: string
  /** Gives each row an address on the page. */
  rowId?: (row: string[]) => string
}

/** A small table of text. The first cell of a row names it. */
export function PlainTable({ head, rows, caption, rowId }: TableProps) {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={caption ?? head.join(', ')}>
      <table className="t t--sub t--plain doc-table">
        {caption === undefined ? null : <caption className="vh">{caption}</caption>}
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} id={rowId?.(row)}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Inline text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
