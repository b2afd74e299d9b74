import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { call } from '../../api/call.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { durationText, momentText } from '../../parts/time-text.ts'
import { useToast } from '../../parts/toast.tsx'
import { versionText } from '../logs/log-texts.tsx'
import { eventWords, stateLabels } from './delivery-list.tsx'
import { parsed } from './test-delivery.tsx'
import { type DeliveryDetail, deliveryQuery, stateTones } from './webhook-queries.ts'

/** One delivery with its attempts, responses and actions. */
export function DeliveryPanel({
  workflowId,
  deliveryId,
  mayWrite,
  onClose,
}: {
  workflowId: string
  deliveryId: string
  mayWrite: boolean
  onClose: () => void
}) {
  const queries = useQueryClient()
  const toast = useToast()
  const query = deliveryQuery(workflowId, deliveryId)
  const { data, error, refetch } = useQuery(query)
  const settled = async (delivery: DeliveryDetail, said: string) => {
    queries.setQueryData(query.queryKey, delivery)
    await queries.invalidateQueries({ queryKey: ['deliveries', workflowId] })
    toast.show({ text: said })
  }
  const params = { id: workflowId, deliveryId }
  const resend = useMutation({
    mutationFn: () => call('POST /api/workflows/:id/deliveries/:deliveryId/resend', { params }),
    onSuccess: (delivery) => settled(delivery, 'Delivery queued again.'),
    onError: toast.fail,
  })
  const cancel = useMutation({
    mutationFn: () => call('POST /api/workflows/:id/deliveries/:deliveryId/cancel', { params }),
    onSuccess: (delivery) => settled(delivery, 'Delivery cancelled.'),
    onError: toast.fail,
  })
  return (
    <SidePanel
      label="Delivery"
      onClose={onClose}
      title={
        <span className="flex items-center gap-2">
          <span className="text-sm font-semibold">Delivery</span>
          {data && <Badge tone={stateTones[data.state]}>{stateLabels[data.state]}</Badge>}
        </span>
      }
      actions={
        mayWrite &&
        data && (
          <>
            {data.state === 'pending' && (
              <Button
                size="small"
                icon={<Ban size={13} aria-hidden="true" />}
                busy={cancel.isPending}
                onClick={() => cancel.mutate()}
              >
                Cancel
              </Button>
            )}
            <Button
              size="small"
              icon={<RotateCcw size={13} aria-hidden="true" />}
              busy={resend.isPending}
              onClick={() => resend.mutate()}
            >
              {data.state === 'pending' ? 'Send now' : 'Resend'}
            </Button>
          </>
        )
      }
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : data ? (
        <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
          <Facts delivery={data} />
          <Attempts attempts={data.attempts} />
        </div>
      ) : (
        <Loading />
      )}
    </SidePanel>
  )
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const { url, id, event, eventId, logId, executionId, createdAt, nextAttemptAt } = delivery
  return (
    <dl className="flex flex-col gap-2 text-sm">
      <Fact label="To">
        <span className="font-mono text-xs break-all">{url}</span>
      </Fact>
      <Fact label="Run">
        {logId ? (
          <Link href={`/logs/${logId}?view=webhooks`} className="text-accent-text hover:underline">
            {eventWords[event]} {momentText(Date.parse(createdAt))}
          </Link>
        ) : (
          <span title={executionId}>
            {eventWords[event]} {momentText(Date.parse(createdAt))}
          </span>
        )}
      </Fact>
      <Fact label="Version">{versionText(delivery)}</Fact>
      <Fact label="Delivery ID">
        <code className="min-w-0 truncate font-mono text-xs">{id}</code>
        <CopyButton text={id} label="Copy delivery ID" />
      </Fact>
      <Fact label="Event ID">
        <code className="min-w-0 truncate font-mono text-xs">{eventId}</code>
        <CopyButton text={eventId} label="Copy event ID" />
      </Fact>
      {nextAttemptAt && (
        <Fact label="Next attempt">
          <TimeAgo at={nextAttemptAt} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex items-center gap-3">
      <dt className="w-24 shrink-0 text-xs text-muted">{label}</dt>
      <dd className="flex min-w-0 items-center gap-1">{children}</dd>
    </div>
  )
}

function Attempts({ attempts }: Pick<DeliveryDetail, 'attempts'>) {
  if (attempts.length === 0) return <p className="text-sm text-muted">No attempt has ended yet.</p>
  return (
    <section aria-label="Attempts">
      <h2 className="mb-2 text-xs font-medium text-muted">Attempts, latest first</h2>
      <ol className="flex flex-col gap-3">
        {attempts.toReversed().map(({ number, startedAt, durationMs, status, error, answer }) => (
          <li key={number} className="rounded-lg border border-line bg-surface p-3">
            <p className="flex flex-wrap items-center gap-2 text-sm">
              <span className="text-muted tabular-nums">{number}.</span>
              <Badge tone={error ? 'error' : 'ok'}>{status ?? 'No response'}</Badge>
              <span className="text-xs text-muted tabular-nums">{durationText(durationMs)}</span>
              <span className="flex-1" />
              <span className="text-xs text-muted">
                <TimeAgo at={startedAt} />
              </span>
            </p>
            {error && (
              <p className="mt-1.5 text-sm break-words text-error-text">
                {error.message} <span className="font-mono text-2xs">{error.code}</span>
              </p>
            )}
            {answer !== null && answer !== '' && (
              <div className="mt-2">
                <JsonView label="Response" value={parsed(answer)} />
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
