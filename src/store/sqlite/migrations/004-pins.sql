-- Outputs that manual runs of a draft use instead of running a block. Their content is sealed.
CREATE TABLE pins (
  number INTEGER PRIMARY KEY,
  workflow INTEGER NOT NULL REFERENCES workflows (number),
  block TEXT NOT NULL,                        -- its ID in the draft
  bytes INTEGER NOT NULL,                     -- of the output as JSON
  updated_at INTEGER NOT NULL,
  content BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX pins_by_block ON pins (workflow, block);
