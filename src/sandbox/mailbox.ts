/** Messages on their way from the child to the consumer, in order. */
import type { Message } from '../reports/parse/types.ts'

export interface Mailbox {
  put(message: Message): void
  take(): Promise<Message>
  held(): number
  /** Nobody listens any more. */
  discard(): void
  fail(error: Error): void
  /** Called whenever something was taken. */
  onTake: () => void
}

export function createMailbox(): Mailbox {
  const held: Message[] = []
  let waiting: { resolve(message: Message): void; reject(error: Error): void } | null = null
  let failure: Error | null = null
  let deaf = false
  const box: Mailbox = {
    onTake: () => undefined,
    put(message) {
      if (deaf) return
      if (waiting === null) held.push(message)
      else {
        const { resolve } = waiting
        waiting = null
        resolve(message)
      }
    },
    take() {
      const message = held.shift()
      if (message !== undefined) {
        box.onTake()
        return Promise.resolve(message)
      }
      if (failure !== null) return Promise.reject(failure)
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
    },
    held: () => held.length,
    discard() {
      deaf = true
      held.length = 0
      box.onTake()
    },
    fail(error) {
      failure = error
      waiting?.reject(error)
      waiting = null
    },
  }
  return box
}
