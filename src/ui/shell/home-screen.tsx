import { useQuery } from '@tanstack/react-query'
import { Redirect } from 'wouter'
import { call } from '../api/call.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { useWorkspace } from './workspace.tsx'

/** The start page: the editor if there is only one workflow (the sample, on the first day), otherwise the list. */
export function HomeScreen() {
  const { id } = useWorkspace()
  const { data, error, refetch } = useQuery({
    queryKey: ['workflow-names', id],
    queryFn: ({ signal }) => call('GET /api/workflows', { query: { workspaceId: id }, signal }),
  })
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const [only, ...others] = data.data
  return <Redirect to={only && others.length === 0 ? `/workflows/${only.id}` : `/w/${id}/workflows`} replace />
}
