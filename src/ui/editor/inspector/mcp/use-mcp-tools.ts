import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'

/** The tools of an MCP server. Sends no request while the address is incomplete or refers to values of a run. */
export function useMcpTools(server: string, credential: string, isEnabled: boolean) {
  const { id: workspaceId } = useWorkspace()
  const isKnown = URL.canParse(server) && !/[<{]/.test(server + credential)
  const ask = async (isFresh: boolean, signal?: AbortSignal) => {
    const body = { workspaceId, server, credential, isFresh }
    const { data } = await call('POST /api/editor/mcp/tools', { body, ...(signal ? { signal } : {}) })
    return data
  }
  const query = useQuery({
    queryKey: ['mcp-tools', workspaceId, server, credential],
    queryFn: ({ signal, client, queryKey }) => ask(client.getQueryData(queryKey) !== undefined, signal),
    enabled: isEnabled && isKnown,
    staleTime: 60_000,
    retry: false,
  })
  return { ...query, isKnown }
}
