/**
 * Every limit of the product in one place: the unit is the last part of the name, the reason stands beside it.
 * A limit that nothing reads any more fails the architecture test.
 */

// --- HTTP -------------------------------------------------------------------------------------------------------
/** JSON bodies: the largest honest one is a bulk of 500 ids (about 20 kB). */
export const JSON_BODY_BYTES_MAX = 1_000_000
/** A whole upload request (contract: 100 files, 100 MB) and some room for the multipart frame. */
export const UPLOAD_REQUEST_BYTES_MAX = 100_000_000
export const UPLOAD_FRAME_BYTES_MAX = 1_000_000
export const PAGE_ITEMS_DEFAULT = 50
export const PAGE_ITEMS_MAX = 500
export const FIELDS_NAMES_MAX = 50
export const CURSOR_CHARS_MAX = 1024
export const QUERY_TEXT_CHARS_MAX = 200
export const IDEMPOTENCY_KEY_CHARS_MAX = 255
export const IDEMPOTENCY_TTL_MS = 24 * 3_600_000
export const BULK_IDS_MAX = 500

/** Answers of lists kept in memory, all together and each (characters, about bytes). */
export const ANSWER_CACHE_BYTES_MAX = 16_000_000
export const ANSWER_CACHE_ENTRY_BYTES_MAX = 500_000

// --- Rate limits (the contract's three levels) -------------------------------------------------------------------
export const RATE_WINDOW_MS = 60_000
export const RATE_KEY_PER_MINUTE = 100
export const RATE_TENANT_PER_MINUTE = 1000
export const RATE_PHISHING_UPLOAD_PER_MINUTE = 60
export const RATE_DETONATE_PER_HOUR = 30
export const RATE_THREATS_QUERY_PER_MINUTE = 30
/** Above this a ring of timestamps costs too much memory; buckets of 100 ms count instead, never too generously. */
export const RATE_RING_ENTRIES_MAX = 10_000
/** The largest limit an enterprise tenant can be given. */
export const RATE_LIMIT_MAX = 10_000_000
/** Failed logins and unknown keys, per address. */
export const RATE_FAILED_AUTH_PER_MINUTE = 10
/** Idle counters are forgotten; more distinct ones than this at once and the oldest go first. */
export const RATE_COUNTERS_MAX = 100_000

// --- Access ------------------------------------------------------------------------------------------------------
export const PASSWORD_CHARS_MIN = 12
export const PASSWORD_CHARS_MAX = 128
/** argon2id with 19 MiB each: more at once would be a way to fill the memory. */
export const PASSWORD_HASHES_AT_ONCE_MAX = 4
export const PASSWORD_HASHES_WAITING_MAX = 64
export const SESSION_IDLE_MS = 12 * 3_600_000
export const SESSION_ABSOLUTE_MS = 10 * 24 * 3_600_000
/** A session's last use is written at most this often. */
export const SESSION_TOUCH_MS = 60_000
/** A key's last use is written at most this often. */
export const KEY_TOUCH_MS = 60_000
export const SETUP_LINK_TTL_MS = 3_600_000
export const INVITE_LINK_TTL_MS = 7 * 24 * 3_600_000
export const RESET_LINK_TTL_MS = 30 * 60_000
export const LOGIN_TICKET_TTL_MS = 5 * 60_000
export const RECOVERY_CODES = 10
export const KEYS_PER_TENANT_MAX = 200
export const KEY_CIDRS_MAX = 50
export const ROLL_OVERLAP_HOURS_MAX = 168
export const USERS_PER_TENANT_MAX = 500
export const DOMAINS_FREE_PLAN_MAX = 1

// --- Audit -------------------------------------------------------------------------------------------------------
/** Refusals (403) of one credential and action that get an entry of their own; the rest is counted. */
export const AUDIT_DENIALS_PER_MINUTE = 10
/** Different counters of refusals held within a minute: bounds memory under a flood from many addresses. */
export const AUDIT_COUNTERS_MAX = 10_000
/** For sending a checkpoint to a webhook of the operator's, everything together; of the answer only its status counts. */
export const ANCHOR_TIMEOUT_MS = 10_000
export const ANCHOR_RESPONSE_BYTES_MAX = 4096
/** Open live streams of one tenant: a page each for everybody in a small team, several times over. */
export const LIVE_STREAMS_PER_TENANT_MAX = 100
/** A client that is further behind is told to read everything anew: that is less than telling it one by one. */
export const LIVE_REPLAY_ENTRIES_MAX = 10_000

// --- Reports -----------------------------------------------------------------------------------------------------
export const REPORT_FILE_BYTES_MAX = 25 * 1024 * 1024
export const REPORT_FILES_MAX = 100
/** Smaller uploaded files stay in memory until they are stored; larger ones wait on disk. */
export const UPLOAD_HELD_BYTES_MAX = 256 * 1024
/** The longest range of a timeline: ten years. */
export const TIMELINE_DAYS_MAX = 3660
export const DOMAIN_FILTER_NAMES_MAX = 100
/** Refused files are kept with their reason, for a person to look at. */
export const REJECTED_FILES_KEPT_MS = 30 * 24 * 3_600_000

// --- Alerts ------------------------------------------------------------------------------------------------------
export const SILENCE_MS_MIN = 60_000
export const SILENCE_MS_MAX = 90 * 24 * 3_600_000
/** Entries of its history that an alert shows; the newest. */
export const ALERT_HISTORY_MAX = 100
export const ALERT_NOTE_CHARS_MAX = 2000
/** Reports come a day after the day they cover; two more may be missing before it is worth a word. */
export const REPORTS_STOPPED_AFTER_MS = 4 * 24 * 3_600_000
/** So many refused files within a day are a fault of something, not of a file. */
export const REFUSED_FILES_A_DAY_ALERT = 10
export const DISK_LOW_BYTES = 2_000_000_000
export const DISK_CRITICAL_BYTES = 500_000_000
export const NOTIFICATION_RECIPIENTS_MAX = 50
/** With growing pauses in between: about nine hours in all. */
export const MAIL_ATTEMPTS_MAX = 6
/** What was sent, or given up, is kept this long. */
export const MAIL_KEPT_MS = 30 * 24 * 3_600_000

// --- Webhooks (the contract's numbers, and what keeps one receiver from delaying another) -------------------------
export const WEBHOOKS_PER_TENANT_MAX = 20
export const URL_CHARS_MAX = 2048
/** Look-up, connection, TLS, headers and body together. */
export const WEBHOOK_TIMEOUT_MS = 10_000
export const WEBHOOK_RESPONSE_BYTES_MAX = 16 * 1024
export const DELIVERIES_IN_FLIGHT_MAX = 128
export const DELIVERIES_IN_FLIGHT_PER_TENANT_MAX = 16
export const DELIVERIES_IN_FLIGHT_PER_WEBHOOK_MAX = 4
/** Of the slots of a tenant and of all, this part is kept for webhooks whose last attempt succeeded. */
export const DELIVERIES_RESERVED_SHARE = 0.25
/** Longer than any attempt: a claim that is older belongs to nobody. */
export const DELIVERY_LEASE_MS = 30_000
/** A delivery and its attempts can be read, and sent again, for 90 days; its narrow row is kept twice as long. */
export const DELIVERY_KEPT_MS = 90 * 24 * 3_600_000
export const DELIVERY_ROW_KEPT_MS = 180 * 24 * 3_600_000
/** Rows in one change of a job, so that nobody waits for it. */
export const DELIVERY_CHUNK_ROWS = 500
export const SECRET_CHARS_MIN = 16
export const SECRET_CHARS_MAX = 256
/** After a rotation the old secret signs for this long, unless the new one is promoted before. */
export const SECRET_PROMOTE_MS = 24 * 3_600_000
/** Tests that a tenant can have running: each may hold its caller for ten seconds. */
export const WEBHOOK_TESTS_AT_ONCE_MAX = 4
