-- Domains and the reports about them. Times are milliseconds UTC, days are whole days since 1970-01-01 UTC,
-- months are year * 12 + month - 1. Booleans are 0 and 1. Text that ends in _json is JSON.

CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  unicode_name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'verified')),
  profile TEXT NOT NULL DEFAULT 'sending' CHECK (profile IN ('sending', 'receive_only', 'parked')),
  compliance_threshold REAL NOT NULL DEFAULT 95 CHECK (compliance_threshold BETWEEN 0 AND 100),
  outbound_ips_json TEXT NOT NULL DEFAULT '[]',
  dkim_selectors_json TEXT NOT NULL DEFAULT '[]',
  tags_json TEXT NOT NULL DEFAULT '[]',
  verification_token TEXT NOT NULL,
  verification_checked_at INTEGER,
  verification_detail TEXT,
  verified_at INTEGER,
  policy_json TEXT,
  policy_checked_at INTEGER,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant_id, name)
) STRICT;
-- Two tenants may both say that a name is theirs; only one of them can have proven it.
CREATE UNIQUE INDEX domains_verified ON domains (name) WHERE status = 'verified';

-- Every policy domain a report was ever about. Which of the tenant's domains it belongs to (the nearest parent) is
-- said here and nowhere else, so that domains come and go without moving a report or a roll-up. One row of each
-- tenant is named '*': the roll-ups over all of its policy domains.
CREATE TABLE policy_domains (
  id INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  domain_id TEXT REFERENCES domains (id),
  -- The longest covered period of its reports: bounds how far a search by overlap must look.
  span_max INTEGER NOT NULL DEFAULT 0,
  reports INTEGER NOT NULL DEFAULT 0,
  last_end INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant_id, name)
) STRICT;
CREATE INDEX policy_domains_of_domain ON policy_domains (domain_id);
CREATE INDEX policy_domains_span ON policy_domains (tenant_id, span_max);

-- `rid` ascends with the time of arrival and is made by the application.
CREATE TABLE reports (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  state TEXT NOT NULL CHECK (state IN ('current', 'superseded')),
  policy_domain_id INTEGER NOT NULL REFERENCES policy_domains (id),
  policy_domain TEXT NOT NULL,
  org_name TEXT NOT NULL,
  org_email TEXT,
  report_id TEXT NOT NULL,
  -- SHA-256 (32 hex digits) over policy domain, reporter, normalised report id, begin and end.
  dup_key TEXT NOT NULL,
  date_begin INTEGER NOT NULL,
  date_end INTEGER NOT NULL,
  primary_day INTEGER NOT NULL,
  policy_json TEXT NOT NULL,
  -- {contact, version, standard, generator, errors[], entry}
  extra_json TEXT NOT NULL,
  records INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  fail INTEGER NOT NULL,
  disp_none INTEGER NOT NULL,
  disp_quarantine INTEGER NOT NULL,
  disp_reject INTEGER NOT NULL,
  disp_pass INTEGER NOT NULL,
  repairs_json TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('upload', 'mailbox', 'watch', 'api')),
  file_name TEXT NOT NULL,
  file_kind TEXT NOT NULL,
  file_bytes INTEGER NOT NULL,
  blob_sha256 TEXT NOT NULL,
  content_sha256 TEXT NOT NULL,
  -- Over the rows alone: tells the same records in another packing or encoding.
  rows_sha256 TEXT NOT NULL,
  revision_of TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX reports_duplicate_key ON reports (tenant_id, dup_key) WHERE state = 'current';
CREATE INDEX reports_by_end ON reports (tenant_id, date_end, rid) WHERE state = 'current';
CREATE INDEX reports_by_messages ON reports (tenant_id, messages, rid) WHERE state = 'current';
CREATE INDEX reports_by_fail ON reports (tenant_id, fail, rid) WHERE state = 'current';
CREATE INDEX reports_by_org ON reports (tenant_id, org_name, date_end, rid) WHERE state = 'current';
CREATE INDEX reports_by_policy_domain ON reports (policy_domain_id, date_end, rid) WHERE state = 'current';
CREATE INDEX reports_by_arrival ON reports (tenant_id, rid) WHERE state = 'current';
CREATE INDEX reports_superseded ON reports (tenant_id, dup_key) WHERE state = 'superseded';

-- Large reports come in pieces: their rows first, the report last, in the change that makes them visible. What is
-- named here has rows and no report yet; after a crash these rows are removed.
CREATE TABLE report_loads (
  rid INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- The records of a report, in its order, in chunks of up to 500: a JSON list of rows, each a list of values (see
-- rules/records.ts). No foreign key to the report: chunks of a large one come before it.
CREATE TABLE report_chunks (
  rid INTEGER NOT NULL,
  -- number of the chunk's last record
  last_n INTEGER NOT NULL,
  tenant_id TEXT NOT NULL,
  records TEXT NOT NULL,
  PRIMARY KEY (rid, last_n)
) STRICT;

CREATE TABLE report_days (
  policy_domain_id INTEGER NOT NULL REFERENCES policy_domains (id),
  day INTEGER NOT NULL,
  tenant_id TEXT NOT NULL,
  reports INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  pass_both INTEGER NOT NULL,
  pass_dkim INTEGER NOT NULL,
  pass_spf INTEGER NOT NULL,
  disp_none INTEGER NOT NULL,
  disp_quarantine INTEGER NOT NULL,
  disp_reject INTEGER NOT NULL,
  disp_pass INTEGER NOT NULL,
  PRIMARY KEY (policy_domain_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE reporter_days (
  tenant_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  org_name TEXT NOT NULL,
  reports INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  last_end INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, org_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_days (
  policy_domain_id INTEGER NOT NULL REFERENCES policy_domains (id),
  day INTEGER NOT NULL,
  sender TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('dkim', 'spf', 'network', 'prefix', 'other')),
  tenant_id TEXT NOT NULL,
  messages INTEGER NOT NULL,
  pass_both INTEGER NOT NULL,
  pass_dkim INTEGER NOT NULL,
  pass_spf INTEGER NOT NULL,
  disp_none INTEGER NOT NULL,
  disp_quarantine INTEGER NOT NULL,
  disp_reject INTEGER NOT NULL,
  disp_pass INTEGER NOT NULL,
  PRIMARY KEY (policy_domain_id, day, sender, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_months (
  policy_domain_id INTEGER NOT NULL REFERENCES policy_domains (id),
  month INTEGER NOT NULL,
  sender TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('dkim', 'spf', 'network', 'prefix', 'other')),
  tenant_id TEXT NOT NULL,
  first_day INTEGER NOT NULL,
  last_day INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  pass_both INTEGER NOT NULL,
  pass_dkim INTEGER NOT NULL,
  pass_spf INTEGER NOT NULL,
  disp_none INTEGER NOT NULL,
  disp_quarantine INTEGER NOT NULL,
  disp_reject INTEGER NOT NULL,
  disp_pass INTEGER NOT NULL,
  PRIMARY KEY (policy_domain_id, month, sender, kind)
) STRICT, WITHOUT ROWID;

-- A sample of the addresses behind a sender: at most 16 of each report.
CREATE TABLE source_ips (
  tenant_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  kind TEXT NOT NULL,
  policy_domain_id INTEGER NOT NULL REFERENCES policy_domains (id),
  ip TEXT NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, sender, kind, policy_domain_id, ip)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_ips_by_ip ON source_ips (tenant_id, ip);

CREATE TABLE tls_reports (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  org_name TEXT NOT NULL,
  contact TEXT,
  report_id TEXT NOT NULL,
  date_begin INTEGER NOT NULL,
  date_end INTEGER NOT NULL,
  domains TEXT NOT NULL,
  successful INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  policies_json TEXT NOT NULL,
  repairs_json TEXT NOT NULL,
  dup_key TEXT NOT NULL,
  source TEXT NOT NULL,
  file_name TEXT NOT NULL,
  file_kind TEXT NOT NULL,
  file_bytes INTEGER NOT NULL,
  blob_sha256 TEXT NOT NULL,
  content_sha256 TEXT NOT NULL,
  rows_sha256 TEXT NOT NULL,
  revision_of TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant_id, dup_key, rows_sha256)
) STRICT;
CREATE INDEX tls_reports_by_end ON tls_reports (tenant_id, date_end, id);

CREATE TABLE failure_reports (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  reported_domain TEXT NOT NULL,
  source_ip TEXT,
  auth_failure TEXT,
  arrived_at INTEGER,
  subject TEXT,
  detail_json TEXT NOT NULL,
  repairs_json TEXT NOT NULL,
  source TEXT NOT NULL,
  file_name TEXT NOT NULL,
  file_kind TEXT NOT NULL,
  file_bytes INTEGER NOT NULL,
  blob_sha256 TEXT NOT NULL,
  content_sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant_id, content_sha256)
) STRICT;
CREATE INDEX failure_reports_by_arrival ON failure_reports (tenant_id, id);

-- What could not be read, with the reason, for 30 days.
CREATE TABLE rejected_files (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  file_name TEXT NOT NULL,
  file_bytes INTEGER NOT NULL,
  blob_sha256 TEXT NOT NULL,
  code TEXT NOT NULL,
  detail TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (tenant_id, blob_sha256, code)
) STRICT;
CREATE INDEX rejected_files_by_expiry ON rejected_files (expires_at);
