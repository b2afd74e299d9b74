-- Blocks at which runs stop until a time or an answer. When a run ends, its waits are deleted; other pauses stay for
-- a while, so that a late answer learns what happened.
CREATE TABLE pauses (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order in which they began
  context_id TEXT NOT NULL UNIQUE,
  execution_id ANY NOT NULL,                  -- as in logs
  workspace INTEGER NOT NULL REFERENCES workspaces (number),
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  place TEXT NOT NULL,                        -- of the block in its run
  block_id TEXT NOT NULL,
  block_name TEXT NOT NULL,
  kind INTEGER NOT NULL,                      -- 0 wait, 1 approval, 2 call
  state INTEGER NOT NULL DEFAULT 0,           -- 0 open, 1 answered, 2 expired, 3 cancelled
  since INTEGER NOT NULL,
  until INTEGER,                              -- when it ends by itself
  ended_at INTEGER,
  content BLOB,                               -- sealed
  answer BLOB                                 -- sealed
) STRICT;
CREATE INDEX pauses_by_run ON pauses (execution_id);
CREATE INDEX pauses_due ON pauses (until) WHERE state = 0;
CREATE INDEX pauses_open ON pauses (workspace, number) WHERE state = 0;
CREATE INDEX pauses_ended ON pauses (ended_at) WHERE state > 0;

-- Whether a job has, or had, pauses.
ALTER TABLE jobs ADD COLUMN pauses INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_workspace ON jobs (workspace, number);
