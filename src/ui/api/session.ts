import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { ApiError } from './api-error.ts'
import { call, type ResponseOf } from './call.ts'

/** Who is signed in, and what they reach. */
export type Me = ResponseOf<'GET /api/editor/me'>
export type Workspace = Me['workspaces'][number]

/** Where the cache holds who is signed in; null: nobody. */
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

/** Who is signed in. For everything inside the frame, which is drawn for people who are. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (!data) throw new Error('useMe must be used inside Frame')
  return data
}

/** Ends the session, and forgets all that was loaded in it. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    await call('DELETE /api/session')
    // Not all at once: who looks at a query that is cleared is not told of the next one with its key.
    queries.setQueryData(sessionKey, null)
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
  }, [queries])
}
