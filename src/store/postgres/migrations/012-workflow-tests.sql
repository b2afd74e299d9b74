-- The tests of a workflow. Their revision only rises, so that a change of an earlier one is recognised.
CREATE TABLE millrace.workflow_tests (
  workflow integer PRIMARY KEY REFERENCES millrace.workflows (number),
  revision bigint NOT NULL,
  updated_at bigint NOT NULL,
  updated_by text COLLATE "C",                -- an account
  content text NOT NULL                       -- a list, as JSON without secrets
);
