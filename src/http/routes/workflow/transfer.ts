import { readJson } from '../../../domain/text/json.ts'
import { folderIdOf } from '../../../domain/workflow/folders.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { SimExport } from '../../../sim/export/export-sim.ts'
import type { SimImport } from '../../../sim/import/import-sim.ts'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import { changedFacts, type WorkflowFacts } from '../../requests/workflow-facts.ts'
import type { Services } from '../../services.ts'
import { importWorkflow } from './import-workflow.ts'

/** A workflow in the form of Sim's exports, without its secrets. */
export async function exportWorkflow(
  { secrets, exportSim }: Pick<Services, 'secrets' | 'exportSim'>,
  { document, workspaceId }: Pick<WorkflowRow, 'document' | 'workspaceId'>,
): Promise<SimExport> {
  return await exportSim(await secrets.shown(document, workspaceId, false), workspaceId)
}

/** Imports a file as a new workflow. `workflow`: the file or its text. `facts` replace those of the file. */
export async function importNamed(
  services: Services,
  { workspaceId, workflow, by, facts }: { workspaceId: string; workflow: unknown; by: string; facts: WorkflowFacts },
): Promise<{ row: WorkflowRow; imported: SimImport }> {
  const file = typeof workflow === 'string' ? await parsed(services, workflow) : workflow
  const adapt = (document: WorkflowDocument) => changedFacts(services, document, workspaceId, facts)
  return await importWorkflow(services, { workspaceId, file, by, update: false, adapt })
}

async function parsed({ settings }: Pick<Services, 'settings'>, text: string): Promise<unknown> {
  const { turns, values } = settings.documentBody
  return await turns.run(() => readJson(text, { what: 'workflow', values }))
}

/** The path of a folder that contains workflows itself. */
export async function folderWithId(
  { store }: Pick<Services, 'store'>,
  workspaceId: string,
  folderId: string,
): Promise<string | undefined> {
  const rows = await store.listFolders(workspaceId)
  return rows.find(({ path }) => folderIdOf(path) === folderId)?.path
}
