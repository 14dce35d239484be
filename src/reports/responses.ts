/** Answers that are files. */

/** A download: the browser keeps it, and never guesses what it is. */
export function attachment(
  name: string,
  type: string,
  body: string | ReadableStream<Uint8Array> | Blob,
): Response {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\/]/g, '_').trim() || 'report'
  const extended = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${extended || 'report'}`,
      'x-content-type-options': 'nosniff',
    },
  })
}

/** Text in pieces as a body that is read as fast as the client takes it. */
export function byteStream(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const next = await pieces.next()
      if (next.done === true) controller.close()
      else controller.enqueue(utf8.encode(next.value))
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}
