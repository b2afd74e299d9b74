import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../api/call.ts'
import { useToast } from '../../parts/toast.tsx'
import { workflowsQuery } from './workflow-queries.ts'

type Named = { id: string; name: string }

/** Deletes a workflow at once. The notification offers to restore it. */
export function useDeleteWorkflow(workspaceId: string): (workflow: Named) => Promise<void> {
  const queries = useQueryClient()
  const toast = useToast()
  const restore = async (id: string) => {
    try {
      const { reason } = await call('POST /api/editor/workflows/:id/restore', { params: { id } })
      if (reason) toast.show({ text: `Workflow restored but not deployed: ${reason}`, tone: 'error' })
    } catch (error) {
      toast.fail(error)
    }
    await queries.invalidateQueries(workflowsQuery(workspaceId))
  }
  return async ({ id, name }) => {
    await call('DELETE /api/workflows/:id', { params: { id } })
    queries.setQueryData(workflowsQuery(workspaceId).queryKey, (all) => all?.filter((each) => each.id !== id))
    toast.show({ text: `${name} was deleted.`, action: { label: 'Undo', run: () => void restore(id) } })
  }
}

/** Copies a workflow. The notification offers to open the copy. */
export function useDuplicateWorkflow(workspaceId: string): (workflow: { id: string }) => Promise<void> {
  const queries = useQueryClient()
  const toast = useToast()
  const [, navigate] = useLocation()
  return async ({ id }) => {
    try {
      const copy = await call('POST /api/editor/workflows/:id/duplicate', { params: { id }, body: {} })
      await queries.invalidateQueries(workflowsQuery(workspaceId))
      const open = () => navigate(`/workflows/${copy.id}`)
      toast.show({ text: `${copy.name} was created.`, action: { label: 'Open', run: open } })
    } catch (error) {
      toast.fail(error)
    }
  }
}
