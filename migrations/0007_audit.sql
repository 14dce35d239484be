-- What makes the audit log provable to an outsider: signed statements about its chains, and what is kept to notice the
-- unusual. Lines are canonical JSON with their signature, the same bytes as in the file outside of the database.

-- Where a chain stood, signed. `n` counts the checkpoints of a chain; each names the hash of the one before.
CREATE TABLE audit_checkpoints (
  tenant_id TEXT NOT NULL,
  n         INTEGER NOT NULL CHECK (n > 0),
  seq       INTEGER NOT NULL,
  signed_at INTEGER NOT NULL,
  line      TEXT NOT NULL,
  -- Whether it is in the file outside of the database yet.
  filed     INTEGER NOT NULL DEFAULT 0 CHECK (filed IN (0, 1)),
  PRIMARY KEY (tenant_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_checkpoints_by_seq ON audit_checkpoints (tenant_id, seq);
CREATE INDEX audit_checkpoints_unfiled ON audit_checkpoints (signed_at, tenant_id, n) WHERE filed = 0;

-- Where a chain starts after its oldest entries were removed, signed.
CREATE TABLE audit_starts (
  tenant_id TEXT NOT NULL PRIMARY KEY,
  seq       INTEGER NOT NULL,
  line      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The public halves of the keys that signed, by their fingerprint.
CREATE TABLE audit_keys (
  fingerprint TEXT NOT NULL PRIMARY KEY,
  public_key  BLOB NOT NULL CHECK (length(public_key) = 32),
  since       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The lives of this installation: each restore of a backup begins one. Signed, with where every chain stood then.
CREATE TABLE audit_incarnations (
  n          INTEGER NOT NULL,
  tenant_id  TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  line       TEXT NOT NULL,
  filed      INTEGER NOT NULL DEFAULT 0 CHECK (filed IN (0, 1)),
  PRIMARY KEY (n, tenant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_incarnations_of_chain ON audit_incarnations (tenant_id, n);

-- Where checkpoints are sent, and how far that got. `settings` is JSON.
CREATE TABLE audit_anchors (
  kind     TEXT NOT NULL PRIMARY KEY CHECK (kind IN ('mail', 'syslog', 'webhook')),
  settings TEXT NOT NULL,
  -- Number of the newest checkpoint of the system chain that arrived there, and when.
  sent_n   INTEGER NOT NULL DEFAULT 0,
  sent_at  INTEGER,
  tried_at INTEGER,
  error    TEXT
) STRICT, WITHOUT ROWID;

-- How far each chain was watched for the unusual.
CREATE TABLE audit_watch (
  tenant_id TEXT NOT NULL PRIMARY KEY,
  seq       INTEGER NOT NULL,
  -- Time of the first entry that was looked at: habits need some days.
  since     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Networks that a user or key was seen in.
CREATE TABLE audit_networks (
  tenant_id TEXT NOT NULL,
  subject   TEXT NOT NULL,
  network   TEXT NOT NULL,
  first_at  INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, subject, network)
) STRICT, WITHOUT ROWID;

-- Entries by people, per hour of the day (UTC): when this tenant works.
CREATE TABLE audit_hours (
  tenant_id TEXT NOT NULL,
  hour      INTEGER NOT NULL CHECK (hour BETWEEN 0 AND 23),
  entries   INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, hour)
) STRICT, WITHOUT ROWID;

-- The last time each thing was noticed: the same is not told twice within an hour.
CREATE TABLE audit_findings (
  tenant_id TEXT NOT NULL,
  kind      TEXT NOT NULL,
  subject   TEXT NOT NULL,
  at        INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, kind, subject)
) STRICT, WITHOUT ROWID;

-- How long what is kept, in days; JSON, only what differs from the default.
ALTER TABLE tenants ADD COLUMN retention TEXT NOT NULL DEFAULT '{}';
