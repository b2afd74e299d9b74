-- Polls of active versions. A new version keeps the row when it polls the same thing.
CREATE TABLE polls (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: a poll in flight must not find another one's row
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  block TEXT NOT NULL,
  kind INTEGER NOT NULL,                      -- 0 poll, 1 rss, 2 email
  identity TEXT NOT NULL,                     -- a digest of what is polled
  version INTEGER NOT NULL,
  rule TEXT,                                  -- JSON; NULL: not due by the clock
  due_at INTEGER,
  revision INTEGER NOT NULL,                  -- rises with each commit and registration
  state TEXT,                                 -- what the kind of poll keeps
  polled_at INTEGER,
  succeeded_at INTEGER,
  failures INTEGER NOT NULL,
  error TEXT,
  started_at INTEGER,                         -- when an item last started a run
  started INTEGER NOT NULL,                   -- runs that its items started
  UNIQUE (workflow, block)
) STRICT;
CREATE INDEX polls_by_due ON polls (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX polls_by_kind ON polls (kind, number);

-- The items that a poll has seen.
CREATE TABLE poll_items (
  poll INTEGER NOT NULL REFERENCES polls (number),
  hash TEXT NOT NULL,
  place INTEGER NOT NULL,                     -- rises: the lowest are forgotten first
  PRIMARY KEY (poll, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX poll_items_by_place ON poll_items (poll, place);
