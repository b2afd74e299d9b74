import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { sessionKey } from './session.ts'

/**
 * The query cache. When the service returns 401 for any request, the session is cleared, which shows the sign-in page.
 * A wrong password in a form of the dashboard does not end the session.
 */
export function createQueries(): QueryClient {
  const onError = (error: unknown) => {
    const hasEnded = error instanceof ApiError && error.status === 401 && error.code !== 'INVALID_CREDENTIALS'
    if (hasEnded) queries.setQueryData(sessionKey, null)
  }
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        gcTime: 5 * 60_000,
        // Retry after connection failures and server errors, but not after client errors.
        retry: (failures, error) =>
          failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      },
    },
  })
  return queries
}
