-- Lists of pauses and of runs that have not ended stay fast beside a million paused runs: they find those of one
-- workflow, of one kind, or in another state without reading the others.
DROP INDEX pauses_open;
CREATE INDEX pauses_by_kind ON pauses (workspace, kind, number) WHERE state = 0;
CREATE INDEX pauses_by_workflow ON pauses (workflow, kind, number) WHERE state = 0;
DROP INDEX jobs_by_workspace;
CREATE INDEX jobs_not_paused ON jobs (workspace, number) WHERE state < 3;
CREATE INDEX jobs_paused ON jobs (workspace, number) WHERE state = 3;
CREATE INDEX jobs_paused_by_workflow ON jobs (workflow, number) WHERE state = 3;
