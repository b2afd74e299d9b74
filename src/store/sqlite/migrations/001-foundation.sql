-- Accounts, workflows, deployments and the log.
-- Times are epoch milliseconds, UTC. A `number` is an integer that stands for a text id where rows are many.

CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  password_hash TEXT,
  plan TEXT,                                  -- NULL: the installation's
  external_per_minute INTEGER,                -- numbers of its own; NULL: the plan's
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

-- What the first start made, as long as nobody has seen its key and its link; then none.
CREATE TABLE unseen_installation (
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sign_in_hash BLOB,
  sample_id TEXT
) STRICT;

-- Who is signed in. A row says until when; it is renewed while it is in use.
CREATE TABLE sessions (
  hash BLOB NOT NULL PRIMARY KEY,             -- SHA-256 of what the cookie holds
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE workspaces (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice: log rows outlive what they name
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
  workspace INTEGER REFERENCES workspaces (number),  -- NULL: every workspace of the account
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;

-- Environment variables. Values are encrypted before they come here; accounts/secret-box.ts has the format.
CREATE TABLE environment (
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  plain INTEGER NOT NULL,                     -- 1: need not be redacted
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflows (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  name TEXT NOT NULL,
  description TEXT,
  document TEXT NOT NULL,                     -- JSON, without its id
  folder TEXT AS (document ->> '$.folder') STORED,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT,                            -- an account, as far as it is known
  revision INTEGER NOT NULL DEFAULT 1,        -- counts the times that the document was saved
  has_changes INTEGER NOT NULL DEFAULT 0,     -- 1: it would run differently from the active version
  deleted_at INTEGER,                         -- the row stays for its log entries
  deleted_version INTEGER,                    -- the one that was active then
  active_version INTEGER,
  deployed_at INTEGER                         -- when active_version became active
) STRICT;
CREATE UNIQUE INDEX workflows_by_name ON workflows (workspace, name) WHERE deleted_at IS NULL;
CREATE INDEX workflows_by_folder ON workflows (workspace, folder) WHERE folder IS NOT NULL;

CREATE TABLE deployments (
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  version INTEGER NOT NULL,
  document TEXT NOT NULL,                     -- JSON, without its id
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  name TEXT,
  description TEXT,
  PRIMARY KEY (workflow, version)
) STRICT;

-- Webhooks: who is told when runs of a workflow end. A deleted one keeps its row, because its deliveries go on. Secrets
-- are encrypted before they come here.
CREATE TABLE subscriptions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  secret BLOB,                                -- empty: it was one that nothing can decrypt any more
  previous_secret BLOB,                       -- good until previous_secret_until
  previous_secret_until INTEGER,
  include INTEGER NOT NULL,                   -- bits: 1 final output, 2 trace spans, 4 rate limits, 8 usage
  levels INTEGER NOT NULL,                    -- bits of levels as in logs; 0: every one
  triggers INTEGER NOT NULL,                  -- the same of triggers
  active INTEGER NOT NULL,
  retry_on_network_error INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  UNIQUE (workflow, id)
) STRICT;

-- How callers reach an active version beside the workflow's id. Rows come and go with it.
CREATE TABLE addresses (
  kind INTEGER NOT NULL,                      -- 0 webhook, 1 chat
  name TEXT NOT NULL,
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_by_workflow ON addresses (workflow);

-- When active versions run by themselves. A due time is decided once: the step to the next one is one commit with the
-- run that it starts.
CREATE TABLE schedules (
  workflow INTEGER NOT NULL PRIMARY KEY REFERENCES workflows (number),
  version INTEGER NOT NULL,
  rule TEXT NOT NULL,                         -- JSON
  due_at INTEGER,                             -- the first time that is not decided; NULL: no more
  waiting_at INTEGER                          -- a time that runs when the run before it has ended
) STRICT;
CREATE INDEX schedules_by_due ON schedules (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX schedules_waiting ON schedules (workflow) WHERE waiting_at IS NOT NULL;

-- Drafts that were run by hand, so that the log can show what ran. The newest of each workflow are kept.
CREATE TABLE drafts (
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  version INTEGER NOT NULL,                   -- -1, -2, …: never that of a deployment
  document TEXT NOT NULL,                     -- JSON, without its id
  PRIMARY KEY (workflow, version)
) STRICT;

-- One row a run, clustered by workspace: a page is one walk along neighbouring rows, at any depth, and a filter
-- without an index reads 4 to 20 times faster than through an index on a table in order of insertion (measured with
-- 600,000 rows). Rows are about 70 bytes; everything long lies in log_chunks. No foreign keys here: each would cost
-- a look-up a row.
CREATE TABLE logs (
  workspace INTEGER NOT NULL,
  sequence INTEGER NOT NULL,                  -- the order of recording
  workflow INTEGER NOT NULL,
  execution_id ANY NOT NULL,                  -- 16 bytes when it is a UUID, else its text
  version INTEGER NOT NULL,
  level INTEGER NOT NULL,                     -- 0 info, 1 error
  trigger INTEGER NOT NULL,                   -- 0 api, 1 webhook, 2 schedule, 3 manual, 4 chat
  created_at INTEGER,                         -- when an asynchronous run was accepted
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  cost_total REAL NOT NULL,
  models INTEGER NOT NULL,                    -- a number of model_sets, 0 when none was used
  PRIMARY KEY (workspace, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX logs_by_execution ON logs (execution_id);

-- Sets of model names that runs used together, so that a row holds one small number for them; and the sets by name.
CREATE TABLE model_sets (
  number INTEGER PRIMARY KEY,
  names TEXT NOT NULL UNIQUE                  -- JSON, sorted
) STRICT;
CREATE TABLE model_set_names (
  name TEXT NOT NULL,
  model_set INTEGER NOT NULL,
  PRIMARY KEY (name, model_set)
) STRICT, WITHOUT ROWID;

-- What some two thousand neighbouring rows of a workspace have in common, so that a filter passes over them without
-- reading them. Made in the background (zones.ts); the newest rows have none yet. Zones of a workspace are disjoint and
-- in the order of their rows. When rows of a zone are deleted it admits too much, never too little.
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

-- Runs of the last two days by the hour of their start, added up as zones are made (glance.ts).
CREATE TABLE run_hours (
  workspace INTEGER NOT NULL,
  hour INTEGER NOT NULL,                      -- since 1970
  workflow INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  PRIMARY KEY (workspace, hour, workflow)
) STRICT, WITHOUT ROWID;

-- The newest row in a zone of each workflow. Not with the workflow: that row has a document in it, to be written again.
CREATE TABLE last_runs (
  workflow INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT;

-- The zones that a workflow or a set of models occurs in.
CREATE TABLE log_zone_facets (
  workspace INTEGER NOT NULL,
  facet INTEGER NOT NULL,                     -- 0 workflow, 1 set of models
  value INTEGER NOT NULL,
  first_sequence INTEGER NOT NULL,            -- of the zone
  PRIMARY KEY (workspace, facet, value, first_sequence)
) STRICT, WITHOUT ROWID;

-- The long part of the entries (cost, final output, trace spans): neighbours in the order of recording share a chunk of
-- some 32 KB, because spans of one workflow differ little. Chunks cover disjoint ranges of sequences; chunk.ts has
-- the format. A run that ends alone is a chunk of its own, as text, until pack.ts puts it together with its neighbours.
CREATE TABLE log_chunks (
  first_sequence INTEGER PRIMARY KEY,
  last_sequence INTEGER NOT NULL,
  encoding INTEGER NOT NULL,                  -- 0 text, 1 zstd of it
  content ANY NOT NULL
) STRICT;

-- The files of runs that have some, which few have: a page of entries is one look-up here. When an entry goes its row
-- stays as `gone` until what is stored of it is deleted.
CREATE TABLE run_files (
  workspace INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  folder TEXT,                                -- of the stored ones; NULL when there are none
  files TEXT NOT NULL,                        -- JSON
  gone INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_files_gone ON run_files (gone) WHERE gone = 1;

-- The outbox: what runs owe to subscriptions, written in the transaction that records the run, and then the log of it.
-- Clustered by sequence, so that new ones come at the end, and old ones go with their entries.
CREATE TABLE deliveries (
  sequence INTEGER NOT NULL,                  -- of the log entry
  subscription INTEGER NOT NULL,
  workflow INTEGER NOT NULL,
  include INTEGER NOT NULL,                   -- what the body holds: bits as in subscriptions
  state INTEGER NOT NULL,                     -- 0 pending, 1 delivered, 2 failed, 3 cancelled
  attempts INTEGER NOT NULL,
  attempts_before INTEGER NOT NULL,           -- of them, those before it was last sent again
  due_at INTEGER,                             -- of the next attempt
  PRIMARY KEY (sequence, subscription),
  CHECK ((state = 0) = (due_at IS NOT NULL))  -- nothing pends without a time
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
  status INTEGER,                             -- of the answer
  failure_code TEXT,                          -- NULL when it succeeded
  failure_message TEXT,
  answer TEXT,                                -- the beginning of its body
  PRIMARY KEY (sequence, subscription, number)
) STRICT, WITHOUT ROWID;

-- What else was decided about the webhooks of a run, where there is anything to say.
CREATE TABLE run_webhooks (
  sequence INTEGER PRIMARY KEY,
  skipped TEXT NOT NULL,                      -- JSON: [[subscription, reason]]
  facts TEXT                                  -- JSON: rate limits and usage when the run ended
) STRICT;

-- Asynchronous runs that have not ended; a log entry takes their place in the same commit. What they hold is sealed.
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

-- Requests of others that were taken and name themselves, so that a second one starts nothing. Kept for a day; each one
-- that comes takes some away that are older.
CREATE TABLE request_claims (
  workflow INTEGER NOT NULL,
  key TEXT NOT NULL,                          -- a digest of the name
  execution_id ANY NOT NULL,                  -- as in logs
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (workflow, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_claims_by_time ON request_claims (claimed_at);

-- What running jobs need to go on after a crash: a row a block that ended.
CREATE TABLE job_steps (
  job INTEGER NOT NULL REFERENCES jobs (number),
  number INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- Outputs of jobs that the log does not show as they are. A row goes with its log entry.
CREATE TABLE job_outputs (
  execution_id ANY NOT NULL PRIMARY KEY,      -- as in logs
  content BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What was said in chats: a row an exchange, of each conversation the latest ones. What stands in them is sealed.
CREATE TABLE chat_turns (
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  conversation TEXT NOT NULL,
  number INTEGER NOT NULL,                    -- rises in each conversation
  at INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (workflow, conversation, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_turns_by_time ON chat_turns (at);

-- What accounts spent, by calendar month. Kept apart from the log so that retention never makes a bill smaller.
CREATE TABLE usage (
  user_id TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  cost REAL NOT NULL,
  PRIMARY KEY (user_id, period_start)
) STRICT, WITHOUT ROWID;

-- The same by day and model, with its tokens. No bill: what a chart shows.
CREATE TABLE model_usage (
  user_id TEXT NOT NULL,
  day INTEGER NOT NULL,                       -- its first instant, UTC
  model TEXT NOT NULL,
  runs INTEGER NOT NULL,
  cost REAL NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (user_id, day, model)
) STRICT, WITHOUT ROWID;

-- Windows of rate limiting that are open, as of at most a second ago: a restart goes on counting in them.
CREATE TABLE rate_windows (
  kind TEXT NOT NULL,                         -- external, sync, async
  user_id TEXT NOT NULL,
  used INTEGER NOT NULL,
  reset_at INTEGER NOT NULL,
  PRIMARY KEY (kind, user_id)
) STRICT, WITHOUT ROWID;

-- How far work in the background has come.
CREATE TABLE marks (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a trial commit writes and deletes again, to learn whether the disk takes commits.
CREATE TABLE probes (
  id INTEGER PRIMARY KEY,
  filling BLOB NOT NULL
) STRICT;
