-- The starts of workflows that limit them, by the text of their key. Every decision about a start locks its row.
CREATE TABLE millrace.start_groups (
  workflow_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  starts json,                                -- `SharedGroup`; null before the first decision
  owners integer[] NOT NULL DEFAULT '{}',     -- processes with starts that run or wait
  kept_until timestamptz,                     -- when the last start has left the window of the rate
  PRIMARY KEY (workflow_id, key)
);

-- Jobs that wait until their workflow has not been started with the same key for a while. Times are in milliseconds.
CREATE TABLE millrace.debounces (
  workflow_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  execution_id text NOT NULL,
  owner integer NOT NULL,                     -- the process that will run the job
  first_at double precision NOT NULL,
  due_at double precision NOT NULL,
  PRIMARY KEY (workflow_id, key)
);
