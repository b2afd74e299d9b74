-- How a run ran: bits 0 and 1 are its status (0 success, 1 error, 2 cancelled), bit 2 says that only a part ran, bit 3
-- that it has a row in log_notes, and the bits above are its source. NULL in rows of earlier versions: their status
-- follows from their level.
ALTER TABLE logs ADD COLUMN facts INTEGER;
ALTER TABLE log_zones ADD COLUMN statuses INTEGER;   -- bits of the statuses that occur; NULL: those of the levels

-- The failures and labels of runs, for lists and the search. Few runs have either.
CREATE TABLE log_notes (
  workspace INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  failure TEXT,                               -- JSON; NULL when the run succeeded
  labels TEXT,                                -- JSON object of texts; NULL when there are none
  search TEXT NOT NULL,                       -- the texts that a search reads, in lower case
  PRIMARY KEY (workspace, sequence)
) STRICT, WITHOUT ROWID;
