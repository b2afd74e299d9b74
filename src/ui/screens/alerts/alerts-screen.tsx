import { useQuery, useQueryClient } from '@tanstack/react-query'
import { BellRing, Plus } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { call } from '../../api/call.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Switch } from '../../parts/switch.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { Page, PageBody } from '../../shell/page.tsx'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { workflowNamesQuery } from '../logs/log-queries.ts'
import { AlertDialog } from './alert-dialog.tsx'
import { subjectText } from './alert-form.ts'
import { type Alert, alertsQuery } from './alert-queries.ts'

/** The alerts of a workspace. `?new` opens a new one, `?new=<ID>` one for a workflow. */
export function AlertsScreen() {
  const { id: workspaceId, name } = useWorkspace()
  const mayWrite = useMayWrite()
  const add = useNewAlert()
  return (
    <Page
      title="Alerts"
      crumbs={[{ label: name }]}
      actions={
        <>
          <DocsLink to={docs.alerts} />
          {mayWrite && (
            <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => add.open('')}>
              New alert
            </Button>
          )}
        </>
      }
    >
      <PageBody label="Alerts">
        {mayWrite ? (
          <AlertList workspaceId={workspaceId} add={add} />
        ) : (
          <Empty icon={<BellRing size={22} />} title="Alerts are for members who may edit">
            Ask the owner of the workspace for the role of an editor.
          </Empty>
        )}
      </PageBody>
    </Page>
  )
}

type NewAlert = { workflowId: string | null; open: (workflowId: string) => void; close: () => void }

/** The workflow of a new alert, as the URL says; empty for all, and null when there is no new one. */
function useNewAlert(): NewAlert {
  const [search, setSearch] = useSearchParams()
  const open = (workflowId: string) => setSearch(new URLSearchParams({ new: workflowId }))
  return { workflowId: search.get('new'), open, close: () => setSearch(new URLSearchParams(), { replace: true }) }
}

function AlertList({ workspaceId, add }: { workspaceId: string; add: NewAlert }) {
  const queries = useQueryClient()
  const toast = useToast()
  const [edited, setEdited] = useState<Alert>()
  const [removed, setRemoved] = useState<Alert>()
  const { data, error, refetch } = useQuery(alertsQuery(workspaceId))
  const names = useQuery(workflowNamesQuery(workspaceId))
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data || (add.workflowId && names.isPending)) return <Loading lines={3} />
  const nameOf = (id: string) => names.data?.data.find((workflow) => workflow.id === id)?.name
  const params = (alert: Alert | undefined) => ({ id: workspaceId, alertId: alert?.id ?? '' })
  const setActive = async (alert: Alert, active: boolean) => {
    await call('PATCH /api/workspaces/:id/alerts/:alertId', { params: params(alert), body: { active } })
    await queries.invalidateQueries(alertsQuery(workspaceId))
  }
  const test = async (alert: Alert) => {
    const result = await call('POST /api/workspaces/:id/alerts/:alertId/test', { params: params(alert) })
    const reason = result.error ? `: ${result.error.message}` : '.'
    if (result.delivered) toast.show({ text: `The test message of ${alert.name} was sent.` })
    else toast.show({ text: `The test message was not sent${reason}`, tone: 'error' })
  }
  return (
    <>
      {data.length === 0 ? (
        <Empty
          icon={<BellRing size={22} />}
          title="No alerts yet"
          action={
            <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => add.open('')}>
              New alert
            </Button>
          }
        >
          Get a message when a workflow fails, is slow, costs too much or does not run.
        </Empty>
      ) : (
        <Table label="Alerts" wideOnly={[1, 2, 3]} head={['Name', 'Fires when', 'In', 'Last message', 'On', '']}>
          {data.map((alert) => (
            <Row key={alert.id}>
              <Cell className="max-w-56">
                <span className="block truncate font-medium">{alert.name}</span>
                <span className="text-xs text-muted md:hidden">
                  <LastMessage alert={alert} />
                </span>
              </Cell>
              <Cell className="text-muted max-md:hidden">{subjectText(alert)}</Cell>
              <Cell className="max-w-48 truncate text-muted max-md:hidden">
                {alert.workflows === 'all'
                  ? 'All workflows'
                  : alert.workflows.map((id) => nameOf(id) ?? id).join(', ') || 'Deleted workflows'}
              </Cell>
              <Cell className="text-muted max-md:hidden">
                <LastMessage alert={alert} />
              </Cell>
              <Cell>
                <Switch
                  label={`${alert.name} is on`}
                  isLabelHidden
                  checked={alert.active}
                  onChange={(active) => void setActive(alert, active).catch(toast.fail)}
                />
              </Cell>
              <Cell className="text-right whitespace-nowrap">
                <span className="inline-flex gap-2 max-md:flex-col max-md:py-2">
                  <Button size="small" onClick={() => void test(alert).catch(toast.fail)}>
                    Test
                  </Button>
                  <Button size="small" onClick={() => setEdited(alert)}>
                    Change
                  </Button>
                  <Button size="small" look="danger" onClick={() => setRemoved(alert)}>
                    Delete
                  </Button>
                </span>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {add.workflowId !== null && (
        <AlertDialog
          workspaceId={workspaceId}
          workflow={workflowOf(add.workflowId, nameOf)}
          others={data}
          onClose={add.close}
        />
      )}
      {edited && (
        <AlertDialog workspaceId={workspaceId} alert={edited} others={data} onClose={() => setEdited(undefined)} />
      )}
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Delete ${removed?.name ?? 'the alert'}?`}
        action="Delete"
        onConfirm={async () => {
          await call('DELETE /api/workspaces/:id/alerts/:alertId', { params: params(removed) })
          await queries.invalidateQueries(alertsQuery(workspaceId))
          toast.show({ text: `${removed?.name} was deleted.` })
        }}
      >
        It sends no further message. A message that waits for its receiver is still sent.
      </Confirm>
    </>
  )
}

function workflowOf(id: string, nameOf: (id: string) => string | undefined) {
  const name = nameOf(id)
  return name === undefined ? undefined : { id, name }
}

function LastMessage({ alert: { lastFiredAt, quietUntil, lastDelivery, suppressed } }: { alert: Alert }) {
  if (lastFiredAt === null) return 'None yet'
  return (
    <span className="flex flex-col gap-0.5 py-1.5">
      <span className="flex items-center gap-2">
        <TimeAgo at={lastFiredAt} />
        {lastDelivery?.state === 'failed' && <Badge tone="error">Not delivered</Badge>}
        {lastDelivery?.state === 'pending' && lastDelivery.error !== null && <Badge tone="warn">Retrying</Badge>}
      </span>
      {lastDelivery?.error && <span className="max-w-72 text-xs break-words">{lastDelivery.error}</span>}
      {quietUntil !== null && (
        <span className="text-xs">
          Quiet until {new Date(quietUntil).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
          {suppressed > 0 && `, ${suppressed} more so far`}
        </span>
      )}
    </span>
  )
}
