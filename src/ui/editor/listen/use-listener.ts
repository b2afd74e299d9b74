import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { type Listener, listenerQuery } from '../run/test-request.ts'
import type { Autosave } from '../save/autosave.ts'

/**
 * The test address of the open workflow. It stays while other blocks are selected. `isOver`: the address ended without
 * a request.
 */
export function useListener(workflowId: string, trigger: Listener['trigger'], save: Autosave['flush']) {
  const queries = useQueryClient()
  const { queryKey: key } = listenerQuery(workflowId)
  const { data: state } = useQuery(listenerQuery(workflowId))
  // A person has one test address per workflow, which may belong to its other trigger.
  const listener = state?.listener?.trigger === trigger ? state.listener : undefined
  const start = useMutation({
    mutationFn: async () => {
      if (!(await save())) throw new Error('The workflow could not be saved. The test address uses the saved draft.')
      return await call('POST /api/editor/workflows/:id/listen', { params: { id: workflowId }, body: { trigger } })
    },
    onSuccess: (opened) => queries.setQueryData(key, { listener: opened }),
  })
  const stop = useMutation({
    mutationFn: async () => {
      if (!listener) return
      queries.setQueryData(key, {})
      const params = { id: workflowId, token: listener.token }
      await call('DELETE /api/editor/workflows/:id/listen/:token', { params })
    },
  })
  const waitsFor = listener && listener.request === null ? listener.token : undefined
  useEffect(() => {
    if (waitsFor === undefined) return
    const leaving = new AbortController()
    const { signal } = leaving
    void follow(workflowId, waitsFor, signal).then((next) => {
      if (!signal.aborted) queries.setQueryData(['listener', workflowId], next)
    })
    return () => leaving.abort()
  }, [waitsFor, workflowId, queries])
  return { listener, isOver: state?.isOver === true, start, stop }
}

/** Waits until the address has taken a request or has ended. */
async function follow(id: string, token: string, signal: AbortSignal) {
  let failures = 0
  while (!signal.aborted) {
    try {
      const listener = await call('GET /api/editor/workflows/:id/listen/:token', { params: { id, token }, signal })
      if (listener.request) return { listener }
      failures = 0
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) return { isOver: true }
      failures += 1
      await new Promise((resolve) => setTimeout(resolve, Math.min(10_000, 500 * 2 ** failures)))
    }
  }
  return {}
}
