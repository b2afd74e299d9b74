import type { ErrorDetail } from '../../domain/errors.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'

/** An imported workflow, and the report about it. */
export type SimImport = {
  name: string
  document: WorkflowDocument
  mapped: { blockId: string; from: string; to: string }[]
  placeholders: { blockId: string; name: string; from: string; needs: string }[]
  credentials: { name: string; kind?: string; for: string[] }[]
  notes: string[]
}
export type SimImporting = SimImport | { details: ErrorDetail[] }
