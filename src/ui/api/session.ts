import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { draftStorage, forgetKeptDrafts } from '../shell/kept-drafts.ts'
import { ApiError } from './api-error.ts'
import { call, type ResponseOf } from './call.ts'

/** The signed-in user and the workspaces they belong to. */
export type Me = ResponseOf<'GET /api/editor/me'>
export type Workspace = Me['workspaces'][number]

/** The cache key of the signed-in user. The value is null when nobody is signed in. */
export const sessionKey = ['me'] as const

export const meQuery = queryOptions({
  queryKey: sessionKey,
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await call('GET /api/editor/me', { signal })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
})

/** The signed-in user. Only for components inside the frame, which is rendered only when somebody is signed in. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (!data) throw new Error('useMe must be used inside Frame')
  return data
}

/** Ends the session and clears everything loaded in it. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    await call('DELETE /api/session')
    forgetKeptDrafts(draftStorage())
    // Do not clear the whole cache: an observer of a cleared query does not follow the next query with the same key.
    queries.setQueryData(sessionKey, null)
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
  }, [queries])
}
