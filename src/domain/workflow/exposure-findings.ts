import { exposureIn } from './mcp-exposure.ts'
import { hasToolTrigger } from './tool-name.ts'
import type { Finding, WorkflowDocument } from './workflow.ts'

/** Warns of a workflow that is offered to MCP clients, but cannot be called by them. */
export function exposureFindings(document: WorkflowDocument): Finding[] {
  if (!exposureIn(document) || hasToolTrigger(document)) return []
  const message =
    'The workflow is offered to assistants, but they cannot call it, because it has no API trigger. Add one, or do not ' +
    'offer it.'
  const place = { path: 'mcp.expose', blockId: null, blockName: null }
  return [{ level: 'warning', code: 'TOOL_WITHOUT_TRIGGER', ...place, message }]
}
