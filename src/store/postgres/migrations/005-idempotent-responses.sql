-- What a request with an `Idempotency-Key` on the execute endpoint leaves for its repeats.
ALTER TABLE millrace.request_claims ADD COLUMN request text;      -- a hash of body and mode; null for webhook triggers
ALTER TABLE millrace.request_claims ADD COLUMN response bytea;    -- sealed; null when the run became a job
CREATE INDEX request_claims_by_run ON millrace.request_claims (execution_id) WHERE request IS NOT NULL;
