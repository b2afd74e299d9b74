-- The tests of a workflow. Their revision only rises, so that a change of an earlier one is recognised.
CREATE TABLE workflow_tests (
  workflow INTEGER PRIMARY KEY REFERENCES workflows (number),
  revision INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT,                            -- an account
  content TEXT NOT NULL                       -- a list, as JSON without secrets
) STRICT;
