-- The starts of workflows that limit them, by the text of their key. Every decision about a start locks its row.
CREATE TABLE millrace.start_groups (
  workflow_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  starts json,                                -- `SharedGroup`; null before the first decision
  owners integer[] NOT NULL DEFAULT '{}',     -- processes with starts that run or wait
  kept_until timestamptz,                     -- when the last start has left the window of the rate
  PRIMARY KEY (workflow_id, key)
);
