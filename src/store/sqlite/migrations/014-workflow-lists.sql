-- Lists of workflows in pages: by creation and by the last save. The list by name has `workflows_by_name`.
CREATE INDEX workflows_by_age ON workflows (workspace, number) WHERE deleted_at IS NULL;
CREATE INDEX workflows_by_save ON workflows (workspace, updated_at, number) WHERE deleted_at IS NULL;
