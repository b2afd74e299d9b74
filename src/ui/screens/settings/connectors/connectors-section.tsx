import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Cell, Row, Table } from '../../../parts/table.tsx'
import { useToast } from '../../../parts/toast.tsx'
import { type ConnectorSummary, connectorsQuery } from '../../../shell/connectors-query.ts'
import { useMayWrite, useWorkspace } from '../../../shell/workspace.tsx'
import { Section } from '../section.tsx'
import { ConnectorDetails } from './connector-details.tsx'
import { ConnectorImportDialog } from './connector-import-dialog.tsx'

/** The services that operation blocks can call. A workspace adds its own to those of Millrace. */
export function ConnectorsSection() {
  const { id } = useWorkspace()
  const mayWrite = useMayWrite()
  const queries = useQueryClient()
  const toast = useToast()
  const [shown, setShown] = useState<string>()
  const [removed, setRemoved] = useState<ConnectorSummary>()
  const [isImporting, setIsImporting] = useState(false)
  const { data, error, refetch } = useQuery(connectorsQuery(id))
  const all = data?.data ?? []
  // The connectors of the workspace come first: they are the ones that people manage here.
  const listed = [...all.filter(({ builtIn }) => !builtIn), ...all.filter(({ builtIn }) => builtIn)]
  return (
    <Section
      title="Connectors"
      note="The services whose operations workflows can call. Import your own from an OpenAPI document, a cURL command or a HAR file."
      action={
        mayWrite && (
          <Button look="primary" icon={<FileUp size={15} aria-hidden="true" />} onClick={() => setIsImporting(true)}>
            Import connector
          </Button>
        )
      }
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={6} />
      ) : (
        <Table label="Connectors" wideOnly={[1, 2]} head={['Name', 'Description', 'Operations', 'Source', '']}>
          {listed.map((connector) => (
            <Row key={connector.id}>
              <Cell>
                <button
                  type="button"
                  className="cursor-default rounded-sm text-left font-medium hover:underline"
                  onClick={() => setShown(connector.id)}
                >
                  {connector.name}
                </button>
              </Cell>
              <Cell className="max-w-80 truncate text-muted max-md:hidden">{connector.description}</Cell>
              <Cell className="text-muted tabular-nums max-md:hidden">{connector.operations.length}</Cell>
              <Cell className="whitespace-nowrap">
                {connector.builtIn ? <span className="text-muted">Built in</span> : <Badge>This workspace</Badge>}
              </Cell>
              <Cell className="text-right whitespace-nowrap">
                {mayWrite && !connector.builtIn && (
                  <Button size="small" look="danger" onClick={() => setRemoved(connector)}>
                    Delete
                  </Button>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {shown !== undefined && <ConnectorDetails connectorId={shown} onClose={() => setShown(undefined)} />}
      {isImporting && <ConnectorImportDialog present={all} onClose={() => setIsImporting(false)} />}
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Delete ${removed?.name ?? 'the connector'}?`}
        action="Delete"
        onConfirm={async () => {
          await call('DELETE /api/workspaces/:id/connectors/:connectorId', {
            params: { id, connectorId: removed?.id ?? '' },
          })
          await queries.invalidateQueries(connectorsQuery(id))
          toast.show({ text: `${removed?.name} was deleted.` })
        }}
      >
        Blocks that call its operations will fail from then on.
      </Confirm>
    </Section>
  )
}
