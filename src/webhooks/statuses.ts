/** The states of a delivery. */
export const DELIVERY_STATUSES = [
  'pending',
  'sending',
  'retrying',
  'succeeded',
  'failed',
  'skipped',
  'cancelled',
] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** What can be sent again. */
export const REDELIVERABLE = ['failed', 'skipped'] as const
export type Redeliverable = (typeof REDELIVERABLE)[number]
