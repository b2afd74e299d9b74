-- Alerts of workspaces, and the event triggers of active versions. A deleted row stays, because deliveries refer to it.
CREATE TABLE alerts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  id TEXT NOT NULL UNIQUE,
  starts INTEGER REFERENCES workflows (number),  -- the workflow of an event trigger; NULL for an alert
  name TEXT NOT NULL,
  events INTEGER NOT NULL,                    -- bits of event types
  watches_all INTEGER NOT NULL,               -- 0: the workflows of alert_workflows
  rule TEXT,                                  -- JSON
  quiet_ms INTEGER NOT NULL,
  channel TEXT NOT NULL,                      -- webhook, email, run
  url TEXT,
  secret BLOB,                                -- sealed; empty: the key that could decrypt it is lost
  recipients TEXT,                            -- JSON
  active INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT,                            -- an account
  since INTEGER NOT NULL,                     -- what happened before does not count
  fired_at INTEGER,
  fired_sequence INTEGER,                     -- of alert_firings
  quiet_until INTEGER,
  suppressed INTEGER NOT NULL DEFAULT 0,      -- events since the last firing
  deleted_at INTEGER
) STRICT;
CREATE INDEX alerts_by_workspace ON alerts (workspace, number) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX alerts_by_trigger ON alerts (starts) WHERE starts IS NOT NULL AND deleted_at IS NULL;

-- The workflows that an alert names.
CREATE TABLE alert_workflows (
  alert INTEGER NOT NULL REFERENCES alerts (number),
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  PRIMARY KEY (alert, workflow)
) STRICT, WITHOUT ROWID;

-- What the rules of alerts remember about runs.
CREATE TABLE alert_states (
  alert INTEGER NOT NULL REFERENCES alerts (number),
  workflow INTEGER NOT NULL,                  -- 0: all of them together
  workspace INTEGER NOT NULL,
  content TEXT NOT NULL,                      -- JSON
  due_at INTEGER,                             -- when the rule "no activity" holds, unless something happens
  PRIMARY KEY (alert, workflow)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_states_due ON alert_states (workspace, due_at) WHERE due_at IS NOT NULL;

-- How far the log of a workspace was evaluated. Workspaces without an active alert or event trigger have no row.
CREATE TABLE alert_cursors (
  workspace INTEGER PRIMARY KEY REFERENCES workspaces (number),
  revision INTEGER NOT NULL,                  -- the number of evaluations
  sequence INTEGER NOT NULL
) STRICT;

-- What happened other than the end of a run. An evaluation deletes the rows that it has seen.
CREATE TABLE workspace_events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  type INTEGER NOT NULL,
  workflow INTEGER,
  execution_id TEXT,
  at INTEGER NOT NULL,
  detail TEXT
) STRICT;
CREATE INDEX workspace_events_by_workspace ON workspace_events (workspace, number);

-- Alerts that fired, with deliveries under their sequence, which comes from the same numbers as those of log entries.
CREATE TABLE alert_firings (
  sequence INTEGER PRIMARY KEY,
  alert INTEGER NOT NULL REFERENCES alerts (number),
  at INTEGER NOT NULL,
  content TEXT NOT NULL                       -- JSON
) STRICT;

-- Runs that events start: first waiting, then with the events that led to them, until they have ended.
CREATE TABLE event_runs (
  sequence INTEGER PRIMARY KEY,               -- of the firing
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  execution_id TEXT NOT NULL UNIQUE,
  chain TEXT NOT NULL,                        -- JSON
  content TEXT NOT NULL,                      -- JSON: of the firing
  waiting INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_runs_waiting ON event_runs (sequence) WHERE waiting = 1;
