import { useQuery } from '@tanstack/react-query'
import { Workflow } from 'lucide-react'
import { Link } from 'wouter'
import { call } from '../../api/call.ts'
import { Badge } from '../../parts/badge.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { Page, PageBody } from '../../shell/page.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'

/** The workflows of a workspace. */
export function WorkflowsScreen() {
  const { id, name } = useWorkspace()
  const { data, error, refetch } = useQuery({
    queryKey: ['workflows', id],
    queryFn: ({ signal }) => call('GET /api/workflows', { query: { workspaceId: id }, signal }),
  })
  return (
    <Page title="Workflows" crumbs={[{ label: name }]}>
      <PageBody>
        {error ? (
          <Failed error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Loading />
        ) : data.data.length === 0 ? (
          <Empty icon={<Workflow size={22} />} title="No workflows yet" />
        ) : (
          <Table label="Workflows" head={['Name', 'Folder', 'Deployed']}>
            {data.data.map((workflow) => (
              <Row key={workflow.id}>
                <Cell>
                  <Link href={`/workflows/${workflow.id}`} className="font-medium hover:underline">
                    {workflow.name}
                  </Link>
                </Cell>
                <Cell className="text-muted">{workflow.folder}</Cell>
                <Cell>{workflow.isDeployed && <Badge tone="ok">v{workflow.version}</Badge>}</Cell>
              </Row>
            ))}
          </Table>
        )}
      </PageBody>
    </Page>
  )
}
