-- Webhooks about runs that pause and continue.
ALTER TABLE subscriptions ADD COLUMN events INTEGER NOT NULL DEFAULT 1;  -- bits: 1 completed, 2 paused, 4 resumed

-- Whether an event has announced the end of a pause.
ALTER TABLE pauses ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;

-- Each has deliveries under its sequence, which comes from the same numbers as those of log entries.
CREATE TABLE pause_events (
  sequence INTEGER PRIMARY KEY,
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  execution_id ANY NOT NULL,                  -- as in logs
  version INTEGER NOT NULL,
  trigger INTEGER NOT NULL,                   -- as in logs
  started_at INTEGER NOT NULL,                -- of the run
  kind INTEGER NOT NULL,                      -- 1 paused, 2 resumed
  at INTEGER NOT NULL,
  paused TEXT NOT NULL                        -- JSON: the pauses in wire form
) STRICT;

-- How long the run was paused; NULL: it never was.
ALTER TABLE logs ADD COLUMN paused_ms INTEGER;
