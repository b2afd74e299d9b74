-- Reminders of a pause: when the next one is due (NULL: never), the time between them, and how many have been due.
ALTER TABLE millrace.pauses ADD COLUMN remind_at bigint, ADD COLUMN remind_every bigint,
  ADD COLUMN reminders integer NOT NULL DEFAULT 0;
CREATE INDEX pauses_reminding ON millrace.pauses (remind_at) WHERE state = 0 AND remind_at IS NOT NULL;
