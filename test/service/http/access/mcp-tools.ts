/**
 * Who may use which tool of the MCP server: a row for each building tool. `needs`: a role in the workspace, as in the
 * access table. `given`: arguments with which the tool succeeds; `<workflow>` and the like are IDs of the owner.
 */
export type ToolRow = { tool: string; needs: 'read' | 'write' | 'execute'; given: Record<string, unknown> }

const workflowId = '<workflow>'
const edits = [{ op: 'set', path: ['description'], value: 'Changed' }]

export const toolTable: readonly ToolRow[] = [
  { tool: 'list_workflows', needs: 'read', given: {} },
  { tool: 'get_workflow', needs: 'read', given: { workflowId } },
  { tool: 'create_workflow', needs: 'write', given: { name: '<name>' } },
  { tool: 'edit_workflow', needs: 'write', given: { workflowId, edits } },
  { tool: 'check_workflow', needs: 'read', given: { workflowId } },
  { tool: 'deploy_workflow', needs: 'write', given: { workflowId } },
  { tool: 'list_credentials', needs: 'read', given: {} },
  { tool: 'list_blocks', needs: 'write', given: {} },
  { tool: 'describe_block', needs: 'write', given: { type: 'api' } },
  { tool: 'list_connectors', needs: 'write', given: {} },
  { tool: 'describe_operation', needs: 'write', given: { connector: 'shop', operation: 'list' } },
  { tool: 'run_draft', needs: 'execute', given: { workflowId, input: { city: 'Faro' } } },
  { tool: 'list_runs', needs: 'read', given: { workflowId } },
  { tool: 'list_failed', needs: 'read', given: { workflowId } },
  { tool: 'get_tests', needs: 'read', given: { workflowId } },
  { tool: 'set_tests', needs: 'write', given: { workflowId, tests: [{ name: 'Set', expect: {} }] } },
  { tool: 'create_test', needs: 'write', given: { workflowId, executionId: '<execution>', name: '<name>' } },
  { tool: 'run_tests', needs: 'execute', given: { workflowId } },
  { tool: 'get_run', needs: 'read', given: { executionId: '<execution>' } },
]
