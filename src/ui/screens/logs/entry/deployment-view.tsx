import { useQuery } from '@tanstack/react-query'
import { Layers } from 'lucide-react'
import { call } from '../../../api/call.ts'
import { Empty, Failed, Loading } from '../../../parts/states.tsx'
import { Cell, Row, Table } from '../../../parts/table.tsx'

/** The workflow as it was when it ran. */
export function DeploymentView({ executionId }: { executionId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['execution', executionId],
    queryFn: ({ signal }) => call('GET /api/editor/logs/executions/:executionId', { params: { executionId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const blocks = Object.values(data.workflowState.blocks) as { id: string; name: string; type: string }[]
  if (blocks.length === 0) {
    return (
      <Empty icon={<Layers size={22} />} title="This version is gone">
        What ran is no longer kept.
      </Empty>
    )
  }
  return (
    <div className="p-4">
      <Table label="Blocks of the version that ran" head={['Block', 'Type']}>
        {blocks.map(({ id, name, type }) => (
          <Row key={id}>
            <Cell>{name}</Cell>
            <Cell className="font-mono text-xs text-muted">{type}</Cell>
          </Row>
        ))}
      </Table>
    </div>
  )
}
