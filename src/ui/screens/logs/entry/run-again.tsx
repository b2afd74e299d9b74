import { useMutation, useQueryClient } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../../api/call.ts'
import { Button, type ButtonProps } from '../../../parts/button.tsx'
import { useToast } from '../../../parts/toast.tsx'
import type { LogDetail } from '../log-queries.ts'

/**
 * Runs the draft with the input of an earlier run: all of it, or from one block on with the earlier outputs. Opens the
 * new log entry when the run has ended.
 */
export function RunAgain({
  entry,
  blockId,
  iterations,
  label,
  ...look
}: {
  entry: LogDetail
  blockId: string
  /** The iteration index in each container around the block, outermost first. */
  iterations?: number[]
  label: string
} & Pick<ButtonProps, 'look' | 'size'>) {
  const { workflowId, executionId, workspaceId } = entry
  const toast = useToast()
  const queries = useQueryClient()
  const [path, navigate] = useLocation()
  const aborter = useRef(new AbortController())
  useEffect(() => {
    aborter.current = new AbortController()
    return () => aborter.current.abort()
  }, [])
  const run = useMutation({
    mutationFn: async () => {
      const { signal } = aborter.current
      const body = { from: { executionId, blockId, ...(iterations && { iterations }) } }
      const { executionId: fresh } = await call('POST /api/editor/workflows/:id/runs', {
        params: { id: workflowId },
        body,
      })
      return await entryOf(workspaceId, fresh, signal)
    },
    onSuccess: (id) => {
      if (id === undefined) return
      void queries.invalidateQueries({ queryKey: ['logs'] })
      const search = searchFor(location.search, id, !path.startsWith('/logs/'))
      navigate(path.startsWith('/logs/') ? `/logs/${id}${search}` : path + search)
      toast.show({ text: 'The run has ended. This is its log entry.' })
    },
    onError: (error) => {
      if (!aborter.current.signal.aborted) toast.fail(error)
    },
  })
  return (
    <Button
      {...look}
      icon={<RotateCcw size={14} aria-hidden="true" />}
      busy={run.isPending}
      onClick={() => run.mutate()}
    >
      {label}
    </Button>
  )
}

/** Keeps the selected tab for the new entry. */
function searchFor(search: string, id: string, isList: boolean): string {
  const next = new URLSearchParams(search)
  next.delete('span')
  if (isList) next.set('entry', id)
  return next.size === 0 ? '' : `?${next}`
}

/** Waits for the log entry of a run and returns its id. Returns undefined when aborted. */
async function entryOf(workspaceId: string, executionId: string, signal: AbortSignal): Promise<string | undefined> {
  for (let waitMs = 120; !signal.aborted; waitMs = Math.min(2_000, waitMs * 1.5)) {
    const found = await call('GET /api/editor/logs', { query: { workspaceId, executionId, limit: 1 }, signal })
    const id = found.data[0]?.id
    if (id !== undefined) return id
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  return undefined
}
