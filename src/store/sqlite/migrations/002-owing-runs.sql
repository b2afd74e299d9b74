-- Runs with several deliveries, none of which has been attempted or decided about: each stands for all of them, due at
-- `due_at`, and has no rows in `deliveries`. The first thing that becomes of one is written with rows of all, in one transaction.
CREATE TABLE owing_runs (
  sequence INTEGER PRIMARY KEY,               -- of the log entry
  workflow INTEGER NOT NULL,
  audience INTEGER NOT NULL,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX owing_runs_due ON owing_runs (audience, due_at);
CREATE INDEX owing_runs_by_workflow ON owing_runs (workflow);

-- Subscriptions that are told of the same runs, so that a run holds one small number for them; and the audiences of each.
CREATE TABLE audiences (
  number INTEGER PRIMARY KEY,
  members TEXT NOT NULL UNIQUE                -- JSON: [[subscription, include]], as in deliveries
) STRICT;
CREATE TABLE audience_members (
  subscription INTEGER NOT NULL,
  audience INTEGER NOT NULL,
  include INTEGER NOT NULL,
  PRIMARY KEY (subscription, audience)
) STRICT, WITHOUT ROWID;
CREATE INDEX audience_members_of ON audience_members (audience);
