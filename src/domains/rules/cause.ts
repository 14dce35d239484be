/** What explains a fall of compliance best, in words, from who sent in the window and in the same time before it. */
export interface SenderFigures {
  name: string
  kind: 'dkim' | 'spf' | 'network' | 'prefix' | 'other'
  messages: number
  failing: number
  messages_before: number
  failing_before: number
}

/** Of a sender's mail: from here on it mostly fails, up to here it mostly passes. */
const MOSTLY_FAILS = 0.5
const MOSTLY_PASSES = 0.2
/** Of all failing messages: one sender explains it. */
const EXPLAINS = 0.5
const GREW = 1.5

const failed = (sender: SenderFigures): number => sender.failing / Math.max(1, sender.messages)
const failedBefore = (sender: SenderFigures): number =>
  sender.failing_before / Math.max(1, sender.messages_before)
const broke = (sender: SenderFigures): boolean =>
  sender.messages_before > 0 && failedBefore(sender) <= MOSTLY_PASSES && failed(sender) >= MOSTLY_FAILS

/** `senders` are all of the window, those with most failing messages first. */
export function probableCause(senders: readonly SenderFigures[]): string {
  const all = senders.reduce((sum, sender) => sum + sender.failing, 0)
  const [top] = senders
  if (top === undefined || all === 0) return 'No single cause stands out.'
  if (top.failing / all >= EXPLAINS) return causeOfOne(top)
  const broken = senders.filter(broke)
  const share = broken.reduce((sum, sender) => sum + sender.failing, 0) / all
  if (share >= EXPLAINS) {
    return `${broken.length} senders that passed before fail now: look at the SPF and DKIM records of the domain.`
  }
  const strangers = senders.filter((sender) => sender.kind === 'network' || sender.kind === 'prefix')
  if (strangers.reduce((sum, sender) => sum + sender.failing, 0) / all >= EXPLAINS) {
    return `${strangers.length} networks send unauthenticated mail, none of them most of it: typical of forged mail.`
  }
  return `Many senders fail; ${top.name} has most of it, ${top.failing} messages.`
}

function causeOfOne(sender: SenderFigures): string {
  const { name, failing, messages } = sender
  const figures = `${failing} of ${messages} messages`
  if (sender.messages_before === 0) {
    return `${name} is new and fails in ${figures}: a service that is not set up for the domain yet, or forged mail.`
  }
  if (broke(sender)) {
    return `${name} passed before and now fails in ${figures}: its DKIM key, its SPF entry or its address changed.`
  }
  if (messages >= GREW * sender.messages_before) {
    return `${name} failed before as well, but sends more now: ${messages} messages after ${sender.messages_before}.`
  }
  return `${name} fails in ${figures}: the largest part of what fails, and no more than before.`
}
