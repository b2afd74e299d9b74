-- What a workspace signs in to other services with. Secrets and tokens are sealed. The lease lets one process at a time
-- refresh the token.
CREATE TABLE credentials (
  number INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  hosts TEXT NOT NULL,                        -- a list as JSON
  fields TEXT NOT NULL,                       -- an object as JSON
  sealed BLOB NOT NULL,                       -- the secrets
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,                   -- the account's ID
  state TEXT NOT NULL,                        -- untested, ok, needs_sign_in or failing
  problem TEXT,
  last_used_at INTEGER,
  token BLOB,
  token_version INTEGER NOT NULL,
  expires_at INTEGER,                         -- of the token
  lease_owner TEXT,
  lease_until INTEGER
) STRICT;
CREATE UNIQUE INDEX credentials_by_name ON credentials (workspace, name);
