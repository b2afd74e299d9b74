import { useQuery, useQueryClient } from '@tanstack/react-query'
import { AppWindow } from 'lucide-react'
import { useState } from 'react'
import { call, type ResponseOf } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { Section } from './section.tsx'

type Application = ResponseOf<'GET /api/editor/applications'>['data'][number]

export const applicationsKey = ['applications'] as const

/** Applications that act for the account over MCP. */
export function ApplicationsSection() {
  const [chosen, setChosen] = useState<Application>()
  const queries = useQueryClient()
  const toast = useToast()
  const { data, error, refetch } = useQuery({
    queryKey: applicationsKey,
    queryFn: ({ signal }) => call('GET /api/editor/applications', { signal }),
  })
  return (
    <Section
      title="Connected applications"
      note="These applications act for you over MCP, each in one workspace and with your role there."
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={2} />
      ) : data.data.length === 0 ? (
        <Empty icon={<AppWindow size={22} />} title="No connected applications">
          Add the address <code className="font-mono break-all">{location.origin}/mcp</code> to an MCP client to connect
          it.
        </Empty>
      ) : (
        <Table
          label="Connected applications"
          wideOnly={[1, 2, 3]}
          head={['Name', 'Workspace', 'Connected', 'Last used', '']}
        >
          {data.data.map((row) => (
            <Row key={row.id}>
              <Cell className="max-w-48 md:max-w-60">
                <span className="block truncate font-medium">{row.name}</span>
                <span className="block truncate text-xs text-muted">{row.sentTo}</span>
                <span className="block truncate text-xs text-muted md:hidden">{row.workspaceName}</span>
                <span className="block truncate text-xs text-muted md:hidden">
                  {row.lastUsedAt ? (
                    <>
                      used <TimeAgo at={row.lastUsedAt} />
                    </>
                  ) : (
                    'never used'
                  )}
                </span>
              </Cell>
              <Cell className="max-w-40 text-muted max-md:hidden">
                <span className="block truncate">{row.workspaceName}</span>
                {row.role === null && <span className="block text-xs">no access now</span>}
              </Cell>
              <Cell className="text-muted max-md:hidden">
                <TimeAgo at={row.createdAt} />
              </Cell>
              <Cell className="text-muted max-md:hidden">
                {row.lastUsedAt ? <TimeAgo at={row.lastUsedAt} /> : 'Never'}
              </Cell>
              <Cell className="text-right whitespace-nowrap">
                <Button size="small" look="danger" aria-label={`Disconnect ${row.name}`} onClick={() => setChosen(row)}>
                  Disconnect
                </Button>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <Confirm
        open={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        title={`Disconnect ${chosen?.name ?? 'the application'}?`}
        action="Disconnect"
        onConfirm={async () => {
          await call('DELETE /api/editor/applications/:id', { params: { id: chosen?.id ?? '' } })
          await queries.invalidateQueries({ queryKey: applicationsKey })
          toast.show({ text: 'Application disconnected.' })
        }}
      >
        The application loses its access at once. To use it again, connect it again.
      </Confirm>
    </Section>
  )
}
