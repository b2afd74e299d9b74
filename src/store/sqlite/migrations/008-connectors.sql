-- The services that a workspace adds, with their operations.
CREATE TABLE connectors (
  number INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  id TEXT NOT NULL,
  document TEXT NOT NULL,                     -- JSON
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL                    -- the account's ID
) STRICT;
CREATE UNIQUE INDEX connectors_by_id ON connectors (workspace, id);
