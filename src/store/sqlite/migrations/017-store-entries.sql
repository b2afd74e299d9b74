-- What workflows keep between their runs.
CREATE TABLE store_entries (
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  workflow INTEGER NOT NULL,                  -- 0: the whole workspace
  key TEXT NOT NULL,
  value TEXT NOT NULL,                        -- JSON
  bytes INTEGER NOT NULL,                     -- as counted in store_usage
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,                         -- NULL: never
  PRIMARY KEY (workspace, workflow, key)
) STRICT;
CREATE INDEX store_entries_by_expiry ON store_entries (workspace, expires_at) WHERE expires_at IS NOT NULL;

-- The bytes of the entries of each workspace. A workspace without a row has no entries.
CREATE TABLE store_usage (
  workspace INTEGER PRIMARY KEY REFERENCES workspaces (number),
  bytes INTEGER NOT NULL
) STRICT;

-- The changes of entries that a run has made. A block that runs again after a crash must not make them again.
CREATE TABLE store_changes (
  execution_id ANY NOT NULL,                  -- as in jobs
  operation TEXT NOT NULL,                    -- the place of the block in the run, as a hash
  found INTEGER NOT NULL,                     -- 1: there was an entry before
  sum REAL,                                   -- of an increment
  at INTEGER NOT NULL,                        -- of the change, or when the run was last found unfinished
  PRIMARY KEY (execution_id, operation)
) STRICT, WITHOUT ROWID;
CREATE INDEX store_changes_by_time ON store_changes (at);
