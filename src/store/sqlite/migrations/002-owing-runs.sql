-- Fan-out records: each stands for all deliveries of a run with several recipients, while none of them has changed.
-- They are due at `due_at` and have no rows in `deliveries`. The transaction that changes the first of them writes rows
-- for all and deletes the record.
CREATE TABLE owing_runs (
  sequence INTEGER PRIMARY KEY,               -- of the log entry
  workflow INTEGER NOT NULL,
  audience INTEGER NOT NULL,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX owing_runs_due ON owing_runs (audience, due_at);
CREATE INDEX owing_runs_by_workflow ON owing_runs (workflow);

-- Recipient sets: subscriptions that receive the same runs, so that a fan-out record holds one small number for them;
-- and the sets of each subscription.
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
