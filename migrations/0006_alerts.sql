-- What a person must act on, who is told of it by mail, and the state of the rules. Times are milliseconds UTC, days
-- are whole days since 1970-01-01 UTC.

CREATE TABLE alerts (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  kind TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
  severity_rank INTEGER AS (CASE severity
    WHEN 'critical' THEN 5 WHEN 'high' THEN 4 WHEN 'medium' THEN 3 WHEN 'low' THEN 2 ELSE 1 END) VIRTUAL,
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'acknowledged', 'silenced', 'resolved')),
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  evidence_json TEXT NOT NULL,
  dedupe_key TEXT NOT NULL,
  count INTEGER NOT NULL DEFAULT 1,
  silenced_until INTEGER,
  assigned_to TEXT REFERENCES users (id) ON DELETE SET NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  resolved_at INTEGER,
  -- Who was told: nobody has decided yet, mails are on their way, the next digest will, nobody is.
  mail TEXT NOT NULL DEFAULT 'new' CHECK (mail IN ('new', 'queued', 'digest', 'none')),
  CHECK ((status = 'silenced') = (silenced_until IS NOT NULL)),
  CHECK ((status = 'resolved') = (resolved_at IS NOT NULL))
) STRICT;
-- The same problem again adds to the alert that is there.
CREATE UNIQUE INDEX alerts_unresolved ON alerts (tenant_id, dedupe_key) WHERE status <> 'resolved';
CREATE INDEX alerts_by_key ON alerts (tenant_id, dedupe_key, id);
CREATE INDEX alerts_by_last ON alerts (tenant_id, last_at, id);
CREATE INDEX alerts_by_first ON alerts (tenant_id, first_at, id);
CREATE INDEX alerts_by_severity ON alerts (tenant_id, severity_rank, id);
CREATE INDEX alerts_by_status ON alerts (tenant_id, status, last_at, id);
CREATE INDEX alerts_by_subject ON alerts (tenant_id, subject_type, subject_id) WHERE status <> 'resolved';
CREATE INDEX alerts_silenced ON alerts (silenced_until) WHERE status = 'silenced';
CREATE INDEX alerts_untold ON alerts (mail, tenant_id, id) WHERE mail IN ('new', 'digest');
CREATE INDEX alerts_assigned ON alerts (assigned_to) WHERE assigned_to IS NOT NULL;

CREATE TABLE alert_history (
  alert_id TEXT NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  tenant_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  action TEXT NOT NULL CHECK (action IN
    ('raised', 'acknowledged', 'silenced', 'resolved', 'reopened', 'assigned', 'unassigned', 'note')),
  actor_type TEXT NOT NULL,
  actor_id TEXT,
  note TEXT,
  -- Of a silence: when it ends.
  until INTEGER,
  -- Of an assignment: to whom.
  user_id TEXT,
  PRIMARY KEY (alert_id, n)
) STRICT, WITHOUT ROWID;

-- Who is told of alerts, when and how. No row: the defaults.
CREATE TABLE notification_settings (
  tenant_id TEXT NOT NULL PRIMARY KEY REFERENCES tenants (id),
  settings_json TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last daily summary of a tenant.
CREATE TABLE notification_digests (
  tenant_id TEXT NOT NULL PRIMARY KEY REFERENCES tenants (id),
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Mail that is to be sent: written in the change that decides it.
CREATE TABLE mail_outbox (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  kind TEXT NOT NULL CHECK (kind IN ('alert', 'digest')),
  alert_id TEXT REFERENCES alerts (id) ON DELETE CASCADE,
  -- A user of the tenant, or an address.
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body_text TEXT NOT NULL,
  body_html TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'sending', 'sent', 'failed', 'dropped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  done_at INTEGER
) STRICT;
CREATE INDEX mail_outbox_due ON mail_outbox (next_at) WHERE status IN ('pending', 'sending');
CREATE INDEX mail_outbox_done ON mail_outbox (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX mail_outbox_tenant ON mail_outbox (tenant_id, id);
CREATE INDEX mail_outbox_alert ON mail_outbox (alert_id);

-- The mail server that Wardpost sends through: one row or none.
CREATE TABLE mail_settings (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  settings_json TEXT NOT NULL,
  -- sealed under the instance key
  password TEXT,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Days of which something arrived since compliance was looked at. `marks` tells whether more came meanwhile.
CREATE TABLE compliance_marks (
  policy_domain_id INTEGER NOT NULL REFERENCES policy_domains (id),
  day INTEGER NOT NULL,
  tenant_id TEXT NOT NULL,
  -- The latest end of the reports that brought it.
  report_end INTEGER NOT NULL,
  marks INTEGER NOT NULL,
  PRIMARY KEY (policy_domain_id, day)
) STRICT, WITHOUT ROWID;

-- Whether a domain may fire: it fires once on falling below its threshold, and again after it recovered.
CREATE TABLE compliance_state (
  domain_id TEXT NOT NULL PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  tenant_id TEXT NOT NULL,
  armed INTEGER NOT NULL CHECK (armed IN (0, 1)),
  -- Percent, over the window that ends with `window_day`.
  compliance REAL NOT NULL,
  window_day INTEGER NOT NULL,
  fired_at INTEGER,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
