-- MCP clients that registered themselves.
CREATE TABLE millrace.oauth_clients (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  redirect_uris text NOT NULL,                -- a JSON array
  created_at bigint NOT NULL,
  used_at bigint                              -- the last sign-in; NULL: none
);
CREATE INDEX oauth_clients_by_age ON millrace.oauth_clients (coalesce(used_at, created_at));

-- A client that an account signed in for one workspace. Hashes are SHA-256.
CREATE TABLE millrace.oauth_grants (
  id text COLLATE "C" PRIMARY KEY,
  family bytea NOT NULL UNIQUE,               -- what the code and all refresh tokens share
  client_id text COLLATE "C" NOT NULL REFERENCES millrace.oauth_clients (id),
  user_id text COLLATE "C" NOT NULL REFERENCES millrace.users (id),
  workspace integer NOT NULL REFERENCES millrace.workspaces (number),
  redirect_uri text NOT NULL,
  resource text NOT NULL,
  challenge text,                             -- NULL: the code was used
  current bytea NOT NULL,                     -- the code, then the refresh token
  previous bytea,                             -- what it replaced
  rotated_at bigint,
  access bytea UNIQUE,
  access_expires_at bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  last_used_at bigint
);
CREATE INDEX oauth_grants_by_user ON millrace.oauth_grants (user_id, created_at);
CREATE INDEX oauth_grants_by_client ON millrace.oauth_grants (client_id);
CREATE INDEX oauth_grants_by_expiry ON millrace.oauth_grants (expires_at);
