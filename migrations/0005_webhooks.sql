-- Webhooks: where events go, what became of each, and every attempt. Deliveries are the queue themselves: a row is
-- born in the change that made its event, and the dispatcher finds it by the index of what is due.

CREATE TABLE webhooks (
  id                 TEXT NOT NULL PRIMARY KEY,
  tenant_id          TEXT NOT NULL REFERENCES tenants (id),
  url                TEXT NOT NULL,
  description        TEXT NOT NULL,
  -- JSON array of the kinds it wants.
  events             TEXT NOT NULL,
  status             TEXT NOT NULL CHECK (status IN ('active', 'paused', 'disabled', 'deleted')),
  -- Sealed. While a rotation runs, the next one stands beside it until it is promoted.
  secret             TEXT NOT NULL,
  secret_last4       TEXT NOT NULL,
  next_secret        TEXT,
  next_secret_last4  TEXT,
  promote_at         INTEGER,
  -- Attempts that failed since the last one that succeeded, and when the first of them did.
  failures           INTEGER NOT NULL DEFAULT 0,
  failing_since      INTEGER,
  last_attempt_at    INTEGER,
  last_success_at    INTEGER,
  version            INTEGER NOT NULL DEFAULT 1,
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  CHECK ((next_secret IS NULL) = (promote_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_tenant ON webhooks (tenant_id, id);

-- `claim` names who is sending it just now (boot id and a counter): only that one may write the result.
CREATE TABLE deliveries (
  id               TEXT NOT NULL PRIMARY KEY,
  tenant_id        TEXT NOT NULL,
  webhook_id       TEXT NOT NULL REFERENCES webhooks (id),
  event_id         TEXT NOT NULL,
  event_type       TEXT NOT NULL,
  status           TEXT NOT NULL CHECK (status IN
    ('pending', 'sending', 'retrying', 'succeeded', 'failed', 'skipped', 'cancelled')),
  -- Attempts in all, and of the running round of seven.
  attempts         INTEGER NOT NULL DEFAULT 0,
  round_attempts   INTEGER NOT NULL DEFAULT 0,
  next_attempt_at  INTEGER,
  last_status_code INTEGER,
  last_error       TEXT,
  created_at       INTEGER NOT NULL,
  completed_at     INTEGER,
  claim            TEXT,
  lease_until      INTEGER,
  CHECK ((status IN ('pending', 'retrying')) <= (next_attempt_at IS NOT NULL)),
  CHECK ((status = 'sending') = (claim IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_due ON deliveries (webhook_id, next_attempt_at)
  WHERE status IN ('pending', 'retrying');
CREATE INDEX deliveries_sending ON deliveries (lease_until) WHERE status = 'sending';
-- What did not arrive: for lists, counts and redelivery.
CREATE INDEX deliveries_undelivered ON deliveries (tenant_id, id)
  WHERE status IN ('failed', 'skipped', 'retrying');
CREATE INDEX deliveries_unhappy ON deliveries (webhook_id, status, id)
  WHERE status IN ('failed', 'skipped', 'cancelled');

CREATE TABLE delivery_attempts (
  tenant_id   TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  n           INTEGER NOT NULL CHECK (n > 0),
  started_at  INTEGER NOT NULL,
  ms          INTEGER NOT NULL,
  status_code INTEGER,
  error_class TEXT,
  error       TEXT,
  -- Where it went: the address that was checked and connected to.
  address     TEXT,
  -- At most 16 kB of what the receiver said.
  response    TEXT NOT NULL,
  PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;

-- "Send everything again that failed since": done in chunks, goes on after a restart.
CREATE TABLE redeliveries (
  id         TEXT NOT NULL PRIMARY KEY,
  tenant_id  TEXT NOT NULL,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id),
  -- JSON array of failed, skipped.
  statuses   TEXT NOT NULL,
  since      INTEGER NOT NULL,
  -- The next chunk begins after `position` and none goes beyond `last_id`.
  position   TEXT NOT NULL,
  last_id    TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running', 'done')),
  total      INTEGER NOT NULL,
  done       INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX redeliveries_running ON redeliveries (id) WHERE status = 'running';
