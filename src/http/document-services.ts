import type { DocumentReading } from '../domain/workflow/document.ts'
import type { SimImporting } from '../sim/import/import-sim.ts'

/** Reads what clients send, in turns with everything else. Both reject with OVERLOADED when many large ones wait. */
export type DocumentServices = {
  /** Reads a document that a client sent. */
  readDocument(body: unknown, workspaceId: string): Promise<DocumentReading>
  /** Converts a workflow file of Sim. */
  importSim(file: unknown, workspaceId: string): Promise<SimImporting>
}
