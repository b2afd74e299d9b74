import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../api/call.ts'
import { useToast } from '../../parts/toast.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { freeName } from './folder-tree.ts'
import { workflowsQuery } from './workflow-queries.ts'

/**
 * Creates an empty workflow with a free name and opens it. The editor asks for its name and for what starts it, so no
 * dialog comes before it.
 */
export function useNewWorkflow() {
  const { id: workspaceId } = useWorkspace()
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: async () => {
      const taken = await queries.fetchQuery(workflowsQuery(workspaceId))
      const names = taken.map(({ name }) => name)
      const body = { workspaceId, name: freeName('New workflow', names), blocks: {}, edges: [] }
      return await call('POST /api/workflows', { body })
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries(workflowsQuery(workspaceId))
      navigate(`/workflows/${id}`, { state: { isNew: true } })
    },
    onError: toast.fail,
  })
}
