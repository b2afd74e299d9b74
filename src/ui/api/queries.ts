import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { sessionKey } from './session.ts'

/**
 * What was loaded from the service, and when it is loaded anew. A session that ended anywhere shows the sign-in page:
 * forgetting who is signed in is enough.
 */
export function createQueries(): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) queries.setQueryData(sessionKey, null)
  }
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        gcTime: 5 * 60_000,
        // Once more after a failed connection or a fault of the service, and not after a "no".
        retry: (failures, error) =>
          failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      },
    },
  })
  return queries
}
