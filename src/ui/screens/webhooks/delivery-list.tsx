import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw, Send } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { countOf } from '../../parts/amount-text.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { versionText } from '../logs/log-texts.tsx'
import { type Delivery, type DeliveryState, deliveriesQuery, states, stateTones } from './webhook-queries.ts'

/** The webhook deliveries of a workflow. */
export function DeliveryList({
  workflowId,
  mayWrite,
  state,
  onState,
  chosen,
  onChoose,
}: {
  workflowId: string
  mayWrite: boolean
  state: DeliveryState | undefined
  onState: (state: DeliveryState | undefined) => void
  chosen: string | undefined
  onChoose: (id: string) => void
}) {
  const [isResending, setIsResending] = useState(false)
  const found = useInfiniteQuery(deliveriesQuery(workflowId, state))
  const rows = found.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Segments
          label="State"
          value={state ?? 'all'}
          onChange={(next) => onState(next === 'all' ? undefined : next)}
          options={[{ value: 'all', label: 'All' }, ...states.map((value) => ({ value, label: stateLabels[value] }))]}
        />
        <span className="flex-1" />
        {mayWrite && (
          <Button icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => setIsResending(true)}>
            Resend failed
          </Button>
        )}
      </div>
      {found.error && rows.length === 0 ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : found.isPending ? (
        <Loading />
      ) : rows.length === 0 && !found.hasNextPage ? (
        <Empty icon={<Send size={22} />} title={state ? `No ${state} deliveries` : 'No deliveries yet'}>
          {state
            ? 'There may be deliveries in another state.'
            : 'Each event of a run that matches a webhook subscription appears here.'}
        </Empty>
      ) : (
        <Table
          label="Deliveries"
          head={['State', 'To', 'Version', 'Event', 'Attempts', 'Last response']}
          wideOnly={[2, 3, 4]}
        >
          {rows.map((delivery) => (
            <Row
              key={delivery.id}
              aria-selected={delivery.id === chosen}
              className={classes('relative', delivery.id === chosen && 'bg-accent-soft')}
            >
              <Cell>
                <Badge tone={stateTones[delivery.state]}>{stateLabels[delivery.state]}</Badge>
              </Cell>
              <Cell className="max-w-20 max-md:w-full max-md:py-1 md:max-w-72">
                <button
                  type="button"
                  onClick={() => onChoose(delivery.id)}
                  className="block max-w-full cursor-default truncate rounded-sm text-left font-mono text-xs after:absolute after:inset-0"
                >
                  {delivery.url}
                </button>
                <span className="text-xs text-muted md:hidden">
                  {eventWords[delivery.event]} <TimeAgo at={delivery.createdAt} />
                </span>
              </Cell>
              <Cell className="max-w-40 truncate text-xs text-muted max-md:hidden" title={versionText(delivery)}>
                {versionText(delivery)}
              </Cell>
              <Cell className="whitespace-nowrap text-muted max-md:hidden">
                {eventWords[delivery.event]} <TimeAgo at={delivery.createdAt} />
              </Cell>
              <Cell className="text-muted tabular-nums max-md:hidden">{delivery.attemptCount}</Cell>
              <Cell className="max-w-28 text-muted max-md:wrap-anywhere md:max-w-72 md:truncate">
                <LastResponse delivery={delivery} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <ShowMore of={found}>Show older deliveries</ShowMore>
      {isResending && <ResendFailed workflowId={workflowId} onClose={() => setIsResending(false)} />}
    </>
  )
}

export const eventWords: Readonly<Record<Delivery['event'], string>> = {
  completed: 'ended',
  paused: 'paused',
  resumed: 'resumed',
}

export const stateLabels: Readonly<Record<DeliveryState, string>> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

function LastResponse({ delivery: { lastAttempt, state, nextAttemptAt } }: { delivery: Delivery }) {
  const said = lastAttempt ? (lastAttempt.status ?? lastAttempt.error?.code ?? '') : ''
  if (state !== 'pending' || nextAttemptAt === null) return said
  return (
    <>
      {said} {said !== '' && '· '}next <TimeAgo at={nextAttemptAt} />
    </>
  )
}

/** Resends all deliveries that failed since a given time. */
function ResendFailed({ workflowId, onClose }: { workflowId: string; onClose: () => void }) {
  const [hours, setHours] = useState('24')
  const queries = useQueryClient()
  const toast = useToast()
  const resend = async () => {
    const { resent } = await call('POST /api/workflows/:id/deliveries/resend-failed', {
      params: { id: workflowId },
      body: { since: new Date(Date.now() - Number(hours) * 3_600_000).toISOString() },
    })
    await queries.invalidateQueries({ queryKey: ['deliveries', workflowId] })
    const queued = `${countOf(resent, 'delivery', 'deliveries')} queued again.`
    toast.show({ text: resent === 0 ? 'No deliveries failed in that time.' : queued })
    onClose()
  }
  return (
    <FormDialog
      title="Resend failed deliveries"
      description="Sends them again, with the same IDs and bodies, to all webhook subscriptions of this workflow."
      width="small"
      submit="Resend"
      onClose={onClose}
      onSubmit={resend}
    >
      <SelectField
        label="Time of the events"
        value={hours}
        onChange={setHours}
        options={[
          { value: '1', label: 'In the last hour' },
          { value: '24', label: 'In the last 24 hours' },
          { value: '168', label: 'In the last 7 days' },
          { value: '720', label: 'In the last 30 days' },
        ]}
      />
    </FormDialog>
  )
}
