-- Reminders of a pause: when the next one is due (NULL: never), the time between them, and how many have been due.
ALTER TABLE pauses ADD COLUMN remind_at INTEGER;
ALTER TABLE pauses ADD COLUMN remind_every INTEGER;
ALTER TABLE pauses ADD COLUMN reminders INTEGER NOT NULL DEFAULT 0;
CREATE INDEX pauses_reminding ON pauses (remind_at) WHERE state = 0 AND remind_at IS NOT NULL;
