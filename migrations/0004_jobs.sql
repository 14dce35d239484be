-- Jobs of this installation: what ran and how it ended, and who may run it now.

-- One row per singleton. The epoch rises with every holder and goes into what it writes, so that a holder that was
-- thought dead cannot finish its work after another took over.
CREATE TABLE leases (
  name   TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  epoch  INTEGER NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job_runs (
  id         TEXT NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  epoch      INTEGER NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running', 'ok', 'failed', 'interrupted')),
  detail     TEXT,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX job_runs_by_name ON job_runs (name, started_at);
