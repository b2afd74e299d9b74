import type { WorkflowPlace, WorkflowRow } from '../../../store/workflow-store.ts'
import type { Services } from '../../services.ts'
import { runCountHours, type WorkflowV2, workflowV2 } from './workflow-schemas.ts'

type Reader = Pick<Services, 'store' | 'clock' | 'settings'>

/** The workflows at these places, in their order, with the facts of their runs. */
export async function shownWorkflows(
  { store, clock, settings }: Reader,
  workspaceId: string,
  places: readonly Pick<WorkflowPlace, 'id'>[],
): Promise<WorkflowV2[]> {
  if (places.length === 0) return []
  const ids = places.map(({ id }) => id)
  const rows = await store.listWorkflowOverviews(workspaceId, clock.now(), runCountHours, ids)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => {
    const row = byId.get(id)
    // Undefined if it was deleted meanwhile.
    return row ? [workflowV2(row, workspaceId, settings.baseUrl())] : []
  })
}

export async function shownWorkflow(
  reader: Reader,
  { id, workspaceId, document, ...facts }: WorkflowRow,
): Promise<WorkflowV2> {
  const [shown] = await shownWorkflows(reader, workspaceId, [{ id }])
  if (shown) return shown
  // It was deleted meanwhile.
  const { name, description = null, folder = null } = document
  const noRuns = { updatedBy: null, lastRun: null, runs: [], errors: [] }
  return workflowV2({ ...facts, id, name, description, folder, ...noRuns }, workspaceId, reader.settings.baseUrl())
}
