import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { useEditing } from '../editing.tsx'
import { pastRun } from '../run/past-run.ts'
import { isIncomplete } from '../values/run-values.ts'
import { useEnvironmentNames } from '../values/use-run-values.ts'

/** The request of the latest run that a call of the webhook started, as the log has it. */
export type LoggedRequest = { at: string; fields: Record<string, unknown> }

/**
 * The latest logged request to a webhook trigger: undefined while it is not known, null when there is none or when the
 * log has it incompletely. `triggerId`: undefined for another kind of trigger.
 */
export function useLoggedRequest(triggerId: string | undefined): LoggedRequest | null | undefined {
  const { workspaceId, workflowId } = useEditing()
  const names = useEnvironmentNames()
  const { data, isError } = useQuery({
    queryKey: ['logged-request', workflowId, triggerId],
    enabled: triggerId !== undefined,
    // A new request may have come since the dialog was open.
    gcTime: 0,
    queryFn: async ({ signal }): Promise<LoggedRequest | null> => {
      const query = { workspaceId, workflowIds: workflowId, triggers: 'webhook', limit: 1 }
      const [entry] = (await call('GET /api/editor/logs', { query, signal })).data
      const run = entry && (await pastRun(entry.executionId, signal))
      const output = run?.entries.find(({ blockId, depth }) => blockId === triggerId && depth === 0)?.span?.output
      if (typeof output !== 'object' || output === null) return null
      const { body, query: searched, method, headers } = output as Record<string, unknown>
      return { at: entry!.startedAt, fields: { body, query: searched, method, headers } }
    },
  })
  if (triggerId === undefined || isError) return null
  return data && isIncomplete(data.fields, names) ? null : data
}
