-- What a request with an `Idempotency-Key` on the execute endpoint leaves for its repeats.
ALTER TABLE request_claims ADD COLUMN request TEXT;       -- a hash of body and mode; null for webhook triggers
ALTER TABLE request_claims ADD COLUMN response BLOB;      -- sealed; null when the run became a job
CREATE INDEX request_claims_by_run ON request_claims (execution_id) WHERE request IS NOT NULL;
