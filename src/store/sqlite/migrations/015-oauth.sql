-- MCP clients that registered themselves.
CREATE TABLE oauth_clients (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,                -- a JSON array
  created_at INTEGER NOT NULL,
  used_at INTEGER                             -- the last sign-in; NULL: none
) STRICT;
CREATE INDEX oauth_clients_by_age ON oauth_clients (coalesce(used_at, created_at));

-- A client that an account signed in for one workspace. Hashes are SHA-256.
CREATE TABLE oauth_grants (
  id TEXT NOT NULL PRIMARY KEY,
  family BLOB NOT NULL UNIQUE,                -- what the code and all refresh tokens share
  client_id TEXT NOT NULL REFERENCES oauth_clients (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  redirect_uri TEXT NOT NULL,
  resource TEXT NOT NULL,
  challenge TEXT,                             -- NULL: the code was used
  current BLOB NOT NULL,                      -- the code, then the refresh token
  previous BLOB,                              -- what it replaced
  rotated_at INTEGER,
  access BLOB UNIQUE,
  access_expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX oauth_grants_by_user ON oauth_grants (user_id, created_at);
CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id);
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);
