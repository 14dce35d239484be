-- What every area stands on: facts about the installation, the audit log, events, idempotency records.
-- Times are integer milliseconds UTC.

-- Facts about this installation: instance_id, created_at, initialised_at, ...
CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One chain per tenant (and `_system`). `entry` is the canonical JSON that is hashed; every column used for
-- searching is generated from it, so that nothing shown can differ from what was hashed.
CREATE TABLE audit_entries (
  tenant_id   TEXT NOT NULL,
  seq         INTEGER NOT NULL CHECK (seq > 0),
  entry       TEXT NOT NULL,
  hash        BLOB NOT NULL CHECK (length(hash) = 32),
  ts          INTEGER AS (json_extract(entry, '$.ts')) VIRTUAL,
  action      TEXT AS (json_extract(entry, '$.action')) VIRTUAL,
  actor_id    TEXT AS (json_extract(entry, '$.actor.id')) VIRTUAL,
  target_id   TEXT AS (json_extract(entry, '$.target.id')) VIRTUAL,
  outcome     TEXT AS (json_extract(entry, '$.outcome')) VIRTUAL,
  PRIMARY KEY (tenant_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_entries_by_time ON audit_entries (tenant_id, ts, seq);
CREATE INDEX audit_entries_by_action ON audit_entries (tenant_id, action, seq);
CREATE INDEX audit_entries_by_actor ON audit_entries (tenant_id, actor_id, seq);
CREATE INDEX audit_entries_by_target ON audit_entries (tenant_id, target_id, seq);
CREATE INDEX audit_entries_failed ON audit_entries (tenant_id, outcome, seq) WHERE outcome <> 'success';

-- Personal values of entries (names, addresses), kept beside the chain so that they can be erased without
-- breaking it: the entry holds SHA-256(salt || body).
CREATE TABLE audit_personal (
  tenant_id TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  salt      BLOB NOT NULL CHECK (length(salt) = 16),
  body      TEXT NOT NULL,
  PRIMARY KEY (tenant_id, seq)
) STRICT, WITHOUT ROWID;

-- The last entry of each chain: where the next one attaches, and what a cut-off tail is found by.
CREATE TABLE audit_heads (
  tenant_id TEXT NOT NULL PRIMARY KEY,
  seq       INTEGER NOT NULL,
  hash      BLOB NOT NULL CHECK (length(hash) = 32),
  ts        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened, as it is told to webhooks: `body` is the exact envelope, serialised once.
CREATE TABLE events (
  id         TEXT NOT NULL PRIMARY KEY,
  tenant_id  TEXT NOT NULL,
  type       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_time ON events (tenant_id, created_at);

-- Answers of requests that carried an Idempotency-Key, stored in the commit of their effect.
CREATE TABLE idempotency (
  tenant_id   TEXT NOT NULL,
  key         TEXT NOT NULL,
  route       TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status      INTEGER NOT NULL,
  body        TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
