import { useQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { Link } from 'wouter'
import { call, type ResponseOf } from '../../../api/call.ts'
import { Badge, type Tone } from '../../../parts/badge.tsx'
import { Empty, Failed, Loading } from '../../../parts/states.tsx'

type Decision = ResponseOf<'GET /api/editor/logs/:id/webhooks'>['data'][number]['decision']

/** The webhook deliveries of a run, and the subscriptions that were skipped, with the reason. */
export function WebhooksView({ logId, workflowId }: { logId: string; workflowId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['log-webhooks', logId],
    queryFn: ({ signal }) => call('GET /api/editor/logs/:id/webhooks', { params: { id: logId }, signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(({ decision }) => decision === 'queued') ? 2_000 : false),
  })
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={3} />
  if (data.data.length === 0) {
    return (
      <Empty
        icon={<Webhook size={22} />}
        title="No webhook deliveries"
        action={
          <Link href={`/workflows/${workflowId}/webhooks`} className="text-sm text-accent-text hover:underline">
            Manage webhook subscriptions
          </Link>
        }
      >
        The workflow had no webhook subscriptions when this run ended.
      </Empty>
    )
  }
  return (
    <ul className="m-4 divide-y divide-line rounded-lg border border-line bg-surface">
      {data.data.map(({ webhookId, url, decision, reason, delivery }) => (
        <li key={webhookId} className="flex flex-col gap-1 px-3 py-2.5">
          <p className="flex items-center gap-2">
            <Badge tone={tones[decision]}>{words[decision]}</Badge>
            <span className="min-w-0 truncate font-mono text-xs">{url}</span>
          </p>
          <p className="text-sm break-words text-muted">{reason}</p>
          {delivery && (
            <Link
              href={`/workflows/${workflowId}/webhooks?view=deliveries&delivery=${delivery.id}`}
              className="w-fit text-xs text-accent-text hover:underline"
            >
              View delivery
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}

const tones: Readonly<Record<Decision, Tone>> = {
  inactive: 'plain',
  filtered_by_event: 'plain',
  filtered_by_level: 'plain',
  filtered_by_trigger: 'plain',
  queued: 'accent',
  delivered: 'ok',
  failed: 'error',
  cancelled: 'plain',
}

const words: Readonly<Record<Decision, string>> = {
  inactive: 'Not sent',
  filtered_by_event: 'Not sent',
  filtered_by_level: 'Not sent',
  filtered_by_trigger: 'Not sent',
  queued: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
}
