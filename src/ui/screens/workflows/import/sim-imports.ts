import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../../api/api-error.ts'
import { call, type ResponseOf } from '../../../api/call.ts'
import { messageOf } from '../../../api/message-of.ts'

/** A file of Sim. `from`: its name; empty for pasted text. */
export type SimFile = { from: string; document: Readonly<Record<string, unknown>> }

export type ImportReport = ResponseOf<'POST /api/workflows/import'>

/** The result for a file: a report, or a problem. `isTaken`: the workspace has a workflow of this name. */
export type SimOutcome = SimFile & ({ report: ImportReport } | { problem: string; isTaken: boolean })

/** Imports one file. Returns a failure as an outcome, so that it does not hide the reports of other files. */
export async function importSimFile(
  file: SimFile,
  { workspaceId, update = false }: { workspaceId: string; update?: boolean },
): Promise<SimOutcome> {
  try {
    const body = { workspaceId, format: 'sim' as const, document: file.document, ...(update ? { update } : {}) }
    return { ...file, report: await call('POST /api/workflows/import', { body }) }
  } catch (error) {
    return { ...file, problem: messageOf(error), isTaken: error instanceof ApiError && error.status === 409 }
  }
}

/** The stored workflow. `origin` is present if an import created it. */
export function importedQuery(workflowId: string) {
  return queryOptions({
    queryKey: ['imported', workflowId],
    queryFn: ({ signal }) => call('GET /api/workflows/:id', { params: { id: workflowId }, signal }),
  })
}
