-- Webhooks about runs that pause and continue.
ALTER TABLE millrace.subscriptions ADD COLUMN events integer NOT NULL DEFAULT 1;  -- bits: 1 completed, 2 paused, 4 resumed

-- Whether an event has announced the end of a pause.
ALTER TABLE millrace.pauses ADD COLUMN announced smallint NOT NULL DEFAULT 0;

-- Each has deliveries under its sequence, which comes from the same numbers as those of log entries.
CREATE TABLE millrace.pause_events (
  sequence bigint PRIMARY KEY,
  workflow integer NOT NULL REFERENCES millrace.workflows (number),
  execution_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  trigger smallint NOT NULL,                  -- as in logs
  started_at bigint NOT NULL,                 -- of the run
  kind smallint NOT NULL,                     -- 1 paused, 2 resumed
  at bigint NOT NULL,
  paused text NOT NULL                        -- JSON: the pauses in wire form
);

-- How long the run was paused; NULL: it never was.
ALTER TABLE millrace.logs ADD COLUMN paused_ms bigint;
