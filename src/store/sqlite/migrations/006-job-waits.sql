-- The time that a job spent suspended between two blocks, because all runs together held too much memory. It does not
-- count against the job's timeout.
ALTER TABLE jobs ADD COLUMN waited_ms INTEGER NOT NULL DEFAULT 0;   -- in all waits that ended
ALTER TABLE jobs ADD COLUMN waiting_since INTEGER;                  -- set while it waits
