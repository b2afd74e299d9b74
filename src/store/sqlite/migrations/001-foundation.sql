-- Accounts, workflows, deployments and the log.
-- Times are epoch milliseconds, UTC. A `number` is an integer that stands for a text ID in tables with many rows.

CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  password_hash TEXT,
  plan TEXT,                                  -- NULL: the default of the installation
  external_per_minute INTEGER,                -- the account's own limits; NULL: those of its tier
  sync_per_minute INTEGER,
  async_per_minute INTEGER,
  usd_per_month REAL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sign_in_tokens (
  hash BLOB NOT NULL PRIMARY KEY,             -- SHA-256
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the first start created. The row is deleted once its key and its link have been shown.
CREATE TABLE unseen_installation (
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sign_in_hash BLOB,
  sample_id TEXT
) STRICT;

-- Sessions of signed-in users. A session that is in use is extended.
CREATE TABLE sessions (
  hash BLOB NOT NULL PRIMARY KEY,             -- SHA-256 of the cookie's value
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE workspaces (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: log rows outlive their workspace
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  owner_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  user_id TEXT NOT NULL REFERENCES users (id),
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
  PRIMARY KEY (user_id, workspace)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_workspace ON members (workspace);

CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,                  -- SHA-256
  last_four TEXT NOT NULL,
  name TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  workspace INTEGER REFERENCES workspaces (number),  -- NULL: all workspaces of the account
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;

-- Environment variables. Values are stored encrypted; accounts/secret-box.ts describes the format.
CREATE TABLE environment (
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  plain INTEGER NOT NULL,                     -- 1: not redacted
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflows (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  name TEXT NOT NULL,
  description TEXT,
  document TEXT NOT NULL,                     -- JSON, without its ID
  folder TEXT AS (document ->> '$.folder') STORED,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT,                            -- an account; NULL: unknown
  revision INTEGER NOT NULL DEFAULT 1,        -- how many times the document was saved
  has_changes INTEGER NOT NULL DEFAULT 0,     -- 1: the draft would run differently from the active version
  deleted_at INTEGER,                         -- the row stays because log entries refer to it
  deleted_version INTEGER,                    -- the version that was active then
  active_version INTEGER,
  deployed_at INTEGER                         -- when active_version became active
) STRICT;
CREATE UNIQUE INDEX workflows_by_name ON workflows (workspace, name) WHERE deleted_at IS NULL;
CREATE INDEX workflows_by_folder ON workflows (workspace, folder) WHERE folder IS NOT NULL;

CREATE TABLE deployments (
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  version INTEGER NOT NULL,
  document TEXT NOT NULL,                     -- JSON, without its ID
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  name TEXT,
  description TEXT,
  PRIMARY KEY (workflow, version)
) STRICT;

-- Webhook subscriptions: who is notified when runs of a workflow end. A deleted subscription keeps its row, because its
-- deliveries continue. Secrets are stored encrypted.
CREATE TABLE subscriptions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  secret BLOB,                                -- empty: the key that could decrypt it is lost
  previous_secret BLOB,                       -- valid until previous_secret_until
  previous_secret_until INTEGER,
  include INTEGER NOT NULL,                   -- bits: 1 final output, 2 trace spans, 4 rate limits, 8 usage
  levels INTEGER NOT NULL,                    -- bits of levels as in logs; 0: all
  triggers INTEGER NOT NULL,                  -- bits of triggers as in logs; 0: all
  active INTEGER NOT NULL,
  retry_on_network_error INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  UNIQUE (workflow, id)
) STRICT;

-- How callers reach an active version other than by the workflow's ID. Activating a version replaces the rows.
CREATE TABLE addresses (
  kind INTEGER NOT NULL,                      -- 0 webhook, 1 chat
  name TEXT NOT NULL,
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_by_workflow ON addresses (workflow);

-- Schedules of active versions. Each due time is resolved once: the step to the next due time and the run that it
-- starts are one commit.
CREATE TABLE schedules (
  workflow INTEGER NOT NULL PRIMARY KEY REFERENCES workflows (number),
  version INTEGER NOT NULL,
  rule TEXT NOT NULL,                         -- JSON
  due_at INTEGER,                             -- the first due time not yet resolved; NULL: none
  waiting_at INTEGER                          -- a due time that starts when the current run ends
) STRICT;
CREATE INDEX schedules_by_due ON schedules (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX schedules_waiting ON schedules (workflow) WHERE waiting_at IS NOT NULL;

-- Drafts of manual runs, so that the log can show what ran. The newest drafts of each workflow are kept.
CREATE TABLE drafts (
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  version INTEGER NOT NULL,                   -- -1, -2, …: differs from every deployment's
  document TEXT NOT NULL,                     -- JSON, without its ID
  PRIMARY KEY (workflow, version)
) STRICT;

-- One row per run, clustered by workspace. A page reads neighbouring rows, at any depth, and a filter without an index
-- is 4 to 20 times faster than an index on a table in insertion order (measured with 600,000 rows). Rows have about
-- 70 bytes; long content is in log_chunks. There are no foreign keys: each would cost a look-up per row.
CREATE TABLE logs (
  workspace INTEGER NOT NULL,
  sequence INTEGER NOT NULL,                  -- in the order of recording
  workflow INTEGER NOT NULL,
  execution_id ANY NOT NULL,                  -- 16 bytes if it is a UUID, otherwise text
  version INTEGER NOT NULL,
  level INTEGER NOT NULL,                     -- 0 info, 1 error
  trigger INTEGER NOT NULL,                   -- 0 api, 1 webhook, 2 schedule, 3 manual, 4 chat
  created_at INTEGER,                         -- when an asynchronous run was accepted
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  cost_total REAL NOT NULL,
  models INTEGER NOT NULL,                    -- a number of model_sets; 0: no model was used
  PRIMARY KEY (workspace, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX logs_by_execution ON logs (execution_id);

-- The sets of models that runs used, so that a log row holds one small number per set, and the sets of each model.
CREATE TABLE model_sets (
  number INTEGER PRIMARY KEY,
  names TEXT NOT NULL UNIQUE                  -- JSON, sorted
) STRICT;
CREATE TABLE model_set_names (
  name TEXT NOT NULL,
  model_set INTEGER NOT NULL,
  PRIMARY KEY (name, model_set)
) STRICT, WITHOUT ROWID;

-- Zone maps: each summarises several hundred neighbouring rows of a workspace, so that a filter can skip them without
-- reading them. They are written in the background (zone-maps.ts); the newest rows have none yet. Zones of a workspace
-- are disjoint and in the order of their rows. After rows of a zone were deleted, its map admits too much, never too
-- little.
CREATE TABLE log_zones (
  workspace INTEGER NOT NULL,
  first_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  levels INTEGER NOT NULL,                    -- bits of the levels that occur
  triggers INTEGER NOT NULL,                  -- bits of the triggers that occur
  started_min INTEGER NOT NULL,
  started_max INTEGER NOT NULL,
  duration_min REAL NOT NULL,
  duration_max REAL NOT NULL,
  cost_min REAL NOT NULL,
  cost_max REAL NOT NULL,
  PRIMARY KEY (workspace, first_sequence)
) STRICT, WITHOUT ROWID;

-- Runs of the last two days by the hour of their start, counted when zone maps are written (workflow-overviews.ts).
CREATE TABLE run_hours (
  workspace INTEGER NOT NULL,
  hour INTEGER NOT NULL,                      -- since 1970
  workflow INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  PRIMARY KEY (workspace, hour, workflow)
) STRICT, WITHOUT ROWID;

-- The newest row with a zone map, for each workflow. It is not a column of `workflows`, because each update would
-- rewrite the document in that row.
CREATE TABLE last_runs (
  workflow INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT;

-- The zones in which a workflow or a set of models occurs.
CREATE TABLE log_zone_facets (
  workspace INTEGER NOT NULL,
  facet INTEGER NOT NULL,                     -- 0 workflow, 1 set of models
  value INTEGER NOT NULL,
  first_sequence INTEGER NOT NULL,            -- of the zone
  PRIMARY KEY (workspace, facet, value, first_sequence)
) STRICT, WITHOUT ROWID;

-- The long part of log entries: cost, final output, trace spans. Neighbours in the order of recording share a chunk of
-- about 32 KB, because the spans of one workflow compress well together. Chunks cover disjoint ranges of sequences;
-- chunk.ts describes the format. A run that ends alone gets its own chunk, as text, until compaction.ts merges it with
-- its neighbours.
CREATE TABLE log_chunks (
  first_sequence INTEGER PRIMARY KEY,
  last_sequence INTEGER NOT NULL,
  encoding INTEGER NOT NULL,                  -- 0 text, 1 text compressed with zstd
  content ANY NOT NULL
) STRICT;

-- The files of runs. Few runs have any, so a page of log entries needs one look-up here. When an entry is deleted, its
-- row stays, marked as `gone`, until its stored files are deleted.
CREATE TABLE run_files (
  workspace INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  folder TEXT,                                -- the folder of stored files; NULL: none are stored
  files TEXT NOT NULL,                        -- JSON
  gone INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_files_gone ON run_files (gone) WHERE gone = 1;

-- The outbox: webhook deliveries, pending or ended. They are written in the transaction that records the run. Clustered
-- by sequence, so that new deliveries are appended and old ones are deleted together with their log entries.
CREATE TABLE deliveries (
  sequence INTEGER NOT NULL,                  -- of the log entry
  subscription INTEGER NOT NULL,
  workflow INTEGER NOT NULL,
  include INTEGER NOT NULL,                   -- contents of the body: bits as in subscriptions
  state INTEGER NOT NULL,                     -- 0 pending, 1 delivered, 2 failed, 3 cancelled
  attempts INTEGER NOT NULL,
  attempts_before INTEGER NOT NULL,           -- how many of them precede the last resend
  due_at INTEGER,                             -- of the next attempt
  PRIMARY KEY (sequence, subscription),
  CHECK ((state = 0) = (due_at IS NOT NULL))  -- a pending delivery has a due time
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (subscription, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_workflow ON deliveries (workflow, sequence);
CREATE INDEX deliveries_failed ON deliveries (workflow, sequence) WHERE state = 2;

CREATE TABLE delivery_attempts (
  sequence INTEGER NOT NULL,
  subscription INTEGER NOT NULL,
  number INTEGER NOT NULL,                    -- from 1
  started_at INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  status INTEGER,                             -- of the response
  failure_code TEXT,                          -- NULL when it succeeded
  failure_message TEXT,
  answer TEXT,                                -- the beginning of the response's body
  PRIMARY KEY (sequence, subscription, number)
) STRICT, WITHOUT ROWID;

-- Subscriptions that a run skipped, and facts for the bodies of its deliveries. Only for runs that have either.
CREATE TABLE run_webhooks (
  sequence INTEGER PRIMARY KEY,
  skipped TEXT NOT NULL,                      -- JSON: [[subscription, reason]]
  facts TEXT                                  -- JSON: rate limits and usage when the run ended
) STRICT;

-- Asynchronous runs that have not ended. The commit that writes the log entry deletes the job. Their content is sealed.
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order of acceptance
  execution_id ANY NOT NULL UNIQUE,           -- as in logs
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  version INTEGER NOT NULL,
  trigger INTEGER NOT NULL,                   -- as in logs
  state INTEGER NOT NULL,                     -- 0 queued, 1 running, 2 interrupted
  cuts INTEGER NOT NULL DEFAULT 0,            -- how many times the process crashed while it ran
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  input BLOB NOT NULL
) STRICT;
CREATE INDEX jobs_queued ON jobs (workflow) WHERE state = 0;
CREATE INDEX jobs_started ON jobs (state) WHERE state > 0;
CREATE INDEX jobs_scheduled ON jobs (workflow) WHERE trigger = 2;

-- Idempotency keys of accepted requests, so that a repeated request starts nothing. Kept for a day; each new claim
-- deletes a few older ones.
CREATE TABLE request_claims (
  workflow INTEGER NOT NULL,
  key TEXT NOT NULL,                          -- a hash of the key
  execution_id ANY NOT NULL,                  -- as in logs
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (workflow, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_claims_by_time ON request_claims (claimed_at);

-- Step histories, from which running jobs resume after a crash: one row per block that ended.
CREATE TABLE job_steps (
  job INTEGER NOT NULL REFERENCES jobs (number),
  number INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- Outputs of jobs, where they differ from those in the log. A row is deleted together with its log entry.
CREATE TABLE job_outputs (
  execution_id ANY NOT NULL PRIMARY KEY,      -- as in logs
  content BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The latest exchanges of each chat conversation, one row per exchange. Their content is sealed.
CREATE TABLE chat_turns (
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  conversation TEXT NOT NULL,
  number INTEGER NOT NULL,                    -- ascending in each conversation
  at INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (workflow, conversation, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_turns_by_time ON chat_turns (at);

-- Costs of accounts by calendar month. Separate from the log, so that retention never reduces a bill.
CREATE TABLE usage (
  user_id TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  cost REAL NOT NULL,
  PRIMARY KEY (user_id, period_start)
) STRICT, WITHOUT ROWID;

-- Costs and tokens by day and model, for charts. Not used for billing.
CREATE TABLE model_usage (
  user_id TEXT NOT NULL,
  day INTEGER NOT NULL,                       -- the start of the day, UTC
  model TEXT NOT NULL,
  runs INTEGER NOT NULL,
  cost REAL NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (user_id, day, model)
) STRICT, WITHOUT ROWID;

-- Open rate-limit windows, at most a second old, so that counting continues after a restart.
CREATE TABLE rate_windows (
  kind TEXT NOT NULL,                         -- external, sync, async
  user_id TEXT NOT NULL,
  used INTEGER NOT NULL,
  reset_at INTEGER NOT NULL,
  PRIMARY KEY (kind, user_id)
) STRICT, WITHOUT ROWID;

-- How far background work has progressed.
CREATE TABLE marks (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows that a probe write inserts and deletes again, to learn whether the disk accepts commits.
CREATE TABLE probes (
  id INTEGER PRIMARY KEY,
  filling BLOB NOT NULL
) STRICT;
