import type { DocumentReading } from '../domain/workflow/document.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { SimExport } from '../sim/export/export-sim.ts'
import type { SimImporting } from '../sim/import/import-sim.ts'

/** Reads and writes documents in slices. Every function rejects with OVERLOADED if many large documents wait. */
export type DocumentServices = {
  /** Reads a document that a client sent. */
  readDocument(body: unknown, workspaceId: string): Promise<DocumentReading>
  /** Converts a workflow file of Sim. */
  importSim(file: unknown, workspaceId: string): Promise<SimImporting>
  /** Writes a document in the form of Sim's exports. The file contains the secrets that the document shows. */
  exportSim(document: WorkflowDocument, workspaceId: string): Promise<SimExport>
}
