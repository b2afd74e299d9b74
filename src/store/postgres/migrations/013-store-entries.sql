-- What workflows keep between their runs.
CREATE TABLE millrace.store_entries (
  workspace integer NOT NULL REFERENCES millrace.workspaces (number),
  workflow integer NOT NULL,                  -- 0: the whole workspace
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,                        -- JSON
  bytes integer NOT NULL,                     -- as counted in store_usage
  updated_at bigint NOT NULL,
  expires_at bigint,                          -- NULL: never
  PRIMARY KEY (workspace, workflow, key)
) WITH (fillfactor = 70);
CREATE INDEX store_entries_by_expiry ON millrace.store_entries (workspace, expires_at) WHERE expires_at IS NOT NULL;

-- The bytes of the entries of each workspace. A workspace without a row has no entries.
CREATE TABLE millrace.store_usage (
  workspace integer PRIMARY KEY REFERENCES millrace.workspaces (number),
  bytes bigint NOT NULL
) WITH (fillfactor = 50);

-- The changes of entries that a run has made. A block that runs again after a crash must not make them again.
CREATE TABLE millrace.store_changes (
  execution_id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,        -- the place of the block in the run, as a hash
  found boolean NOT NULL,                     -- there was an entry before
  sum double precision,                       -- of an increment
  at bigint NOT NULL,                         -- of the change, or when the run was last found unfinished
  PRIMARY KEY (execution_id, operation)
);
CREATE INDEX store_changes_by_time ON millrace.store_changes (at);
