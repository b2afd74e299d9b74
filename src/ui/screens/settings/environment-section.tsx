import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Braces, Plus } from 'lucide-react'
import { useState } from 'react'
import { call, type ResponseOf } from '../../api/call.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { environmentQuery } from '../../shell/environment-query.ts'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { Section } from './section.tsx'
import { VariableDialog } from './variable-dialog.tsx'

type Variable = ResponseOf<'GET /api/workspaces/:id/environment'>['data'][number]

/** Environment variables, which workflows read as `{{NAME}}`. Values are never shown again. */
export function EnvironmentSection() {
  const { id } = useWorkspace()
  const mayWrite = useMayWrite()
  const queries = useQueryClient()
  const toast = useToast()
  const [edited, setEdited] = useState<Variable | 'new'>()
  const [removed, setRemoved] = useState<Variable>()
  const { data, error, refetch } = useQuery(environmentQuery(id))
  const add = mayWrite && (
    <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => setEdited('new')}>
      New variable
    </Button>
  )
  return (
    <Section
      title="Environment variables"
      note={
        <>
          Workflows read them as <code className="font-mono text-text">{'{{NAME}}'}</code>. Values are encrypted at
          rest, and logs show the name instead of the value.
        </>
      }
      action={data && data.data.length > 0 && add}
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={3} />
      ) : data.data.length === 0 ? (
        <Empty icon={<Braces size={22} />} title="No environment variables yet" action={add}>
          Store keys and tokens for other services here instead of in workflows.
        </Empty>
      ) : (
        <Table label="Environment variables" wideOnly={[1, 2]} head={['Name', 'Value', 'Updated', '']}>
          {data.data.map((variable) => (
            <Row key={variable.name}>
              <Cell className="font-mono text-xs font-medium">{variable.name}</Cell>
              <Cell className="text-muted max-md:hidden">
                {variable.plain ? <Badge>Shown in logs</Badge> : '••••••••'}
              </Cell>
              <Cell className="text-muted max-md:hidden">
                <TimeAgo at={variable.updatedAt} />
              </Cell>
              <Cell className="text-right whitespace-nowrap">
                {mayWrite && (
                  <span className="inline-flex gap-2">
                    <Button size="small" onClick={() => setEdited(variable)}>
                      Set value
                    </Button>
                    <Button size="small" look="danger" onClick={() => setRemoved(variable)}>
                      Remove
                    </Button>
                  </span>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {edited && (
        <VariableDialog
          workspaceId={id}
          variable={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Remove ${removed?.name ?? 'the variable'}?`}
        action="Remove"
        onConfirm={async () => {
          const name = removed?.name ?? ''
          await call('DELETE /api/workspaces/:id/environment/:name', { params: { id, name } })
          await queries.invalidateQueries(environmentQuery(id))
          toast.show({ text: `${name} was removed.` })
        }}
      >
        Blocks that use it will fail. Its value cannot be recovered.
      </Confirm>
    </Section>
  )
}
