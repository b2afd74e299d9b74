-- Documents that may hold sealed secrets, so that a start finds some of them without reading all documents.
CREATE INDEX workflows_sealed ON workflows (number) WHERE instr(document, '"$sealed"') > 0;
CREATE INDEX deployments_sealed ON deployments (workflow, version) WHERE instr(document, '"$sealed"') > 0;
CREATE INDEX drafts_sealed ON drafts (workflow, version) WHERE instr(document, '"$sealed"') > 0;
