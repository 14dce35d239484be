CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'enterprise')),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  -- JSON object with the limits that differ from the plan's
  limits TEXT NOT NULL DEFAULT '{}',
  default_compliance_threshold REAL NOT NULL DEFAULT 95,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- argon2id in PHC form; null until the owner of the address has set one
  password_hash TEXT,
  is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1)),
  -- sealed under the instance key
  totp_secret TEXT,
  totp_pending TEXT,
  -- the last accepted 30-second step: a code works once
  totp_last_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_login_at INTEGER
) STRICT;

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash BLOB NOT NULL,
  used_at INTEGER,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE memberships (
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'analyst', 'viewer')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_user ON memberships (user_id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- the active tenant; null for an operator without one
  tenant_id TEXT REFERENCES tenants (id),
  secret_hash BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ip TEXT,
  user_agent TEXT,
  mfa_at INTEGER
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_tenant ON sessions (tenant_id, id);
CREATE INDEX sessions_expires ON sessions (expires_at);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  -- the ten characters behind wdp_: finds the row
  public_id TEXT NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  key_hash BLOB NOT NULL,
  scopes TEXT NOT NULL,
  allowed_cidrs TEXT NOT NULL DEFAULT '[]',
  created_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  last_used_ip TEXT,
  revoked_at INTEGER,
  replaced_by TEXT
) STRICT;
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, id);

-- Invite and reset links: the token itself is never stored.
CREATE TABLE links (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('invite', 'reset')),
  token_hash BLOB NOT NULL UNIQUE,
  email TEXT NOT NULL,
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  tenant_id TEXT REFERENCES tenants (id),
  role TEXT CHECK (role IN ('owner', 'admin', 'analyst', 'viewer')),
  created_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX links_tenant ON links (tenant_id, id);
CREATE INDEX links_user ON links (user_id);
