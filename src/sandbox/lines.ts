/** Cuts a stream of bytes into lines, without ever joining more than one line's worth. */
export interface LineSplitter {
  /** The whole lines that are now complete, as text. Throws when a line is longer than allowed. */
  push(chunk: Uint8Array): Generator<string>
}

export function createLineSplitter(bytes_max: number): LineSplitter {
  const decoder = new TextDecoder('utf-8')
  let parts: Uint8Array[] = []
  let length = 0
  return {
    *push(chunk) {
      let start = 0
      for (;;) {
        const feed = chunk.indexOf(10, start)
        if (feed < 0) break
        const piece = chunk.subarray(start, feed)
        const line = parts.length === 0 ? piece : Buffer.concat([...parts, piece])
        parts = []
        length = 0
        start = feed + 1
        yield decoder.decode(line)
      }
      if (start === chunk.length) return
      parts.push(chunk.slice(start))
      length += chunk.length - start
      if (length > bytes_max) throw new Error('line too long')
    },
  }
}
