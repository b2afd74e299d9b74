import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, KeyRound, Pencil, Plus, Send, Trash2, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Switch } from '../../parts/switch.tsx'
import { useToast } from '../../parts/toast.tsx'
import { triggerLabels } from '../logs/log-texts.tsx'
import { eventWords } from './delivery-list.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { TestDeliveryDialog } from './test-delivery.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { type TestDelivery, type Webhook, webhooksQuery } from './webhook-queries.ts'

type Open =
  | { kind: 'new' }
  | { kind: 'change' | 'rotate' | 'delete'; webhook: Webhook }
  | { kind: 'tested'; result: TestDelivery; webhook: Webhook }

/** The webhook subscriptions of a workflow. */
export function WebhookList({ workflowId, mayWrite }: { workflowId: string; mayWrite: boolean }) {
  const [open, setOpen] = useState<Open>()
  const queries = useQueryClient()
  const toast = useToast()
  const { data, error, refetch } = useQuery(webhooksQuery(workflowId))
  const close = () => setOpen(undefined)
  const refresh = () => queries.invalidateQueries(webhooksQuery(workflowId))
  const test = useMutation({
    mutationFn: (webhook: Webhook) =>
      call('POST /api/editor/workflows/:id/webhooks/:webhookId/test', {
        params: { id: workflowId, webhookId: webhook.id },
      }),
    onSuccess: (result, webhook) => setOpen({ kind: 'tested', result, webhook }),
    onError: toast.fail,
  })
  const turn = useMutation({
    mutationFn: ({ id, active }: { id: string; active: boolean }) =>
      call('PATCH /api/editor/workflows/:id/webhooks/:webhookId', {
        params: { id: workflowId, webhookId: id },
        body: { active },
      }),
    onSettled: refresh,
    onError: toast.fail,
  })
  const add = mayWrite && (
    <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => setOpen({ kind: 'new' })}>
      {' '}
      New subscription
    </Button>
  )
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  return (
    <>
      {data.length === 0 ? (
        <Empty icon={<WebhookIcon size={22} />} title="No webhook subscriptions yet" action={add}>
          A webhook subscription notifies another service when a run of this workflow ends. Deliveries can be signed,
          and failed ones are retried.
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <div className="flex justify-end">{add}</div>
          <ul className="flex flex-col gap-3">
            {data.map((webhook) => (
              <li key={webhook.id} className="rounded-lg border border-line bg-surface p-4">
                <div className="flex items-start gap-3 max-md:flex-col">
                  <div className="min-w-0 flex-1">
                    <p className="font-mono text-sm font-medium break-all">{webhook.url}</p>
                    <p className="mt-1 flex flex-wrap items-center gap-1.5">
                      {wordsOf(webhook).map((word) => (
                        <Badge key={word}>{word}</Badge>
                      ))}
                      <SecretBadge webhook={webhook} />
                    </p>
                  </div>
                  {mayWrite ? (
                    <div className="flex shrink-0 items-center gap-2">
                      <Switch
                        label={webhook.active ? 'On' : 'Off'}
                        checked={webhook.active}
                        onChange={(active) => turn.mutate({ id: webhook.id, active })}
                      />
                      <Button
                        size="small"
                        icon={<Send size={13} aria-hidden="true" />}
                        busy={test.isPending && test.variables.id === webhook.id}
                        onClick={() => test.mutate(webhook)}
                      >
                        Test
                      </Button>
                      <Menu
                        align="end"
                        trigger={<IconButton label={`Actions for ${webhook.url}`} icon={<Ellipsis size={16} />} />}
                        entries={[
                          {
                            label: 'Edit',
                            icon: <Pencil size={15} />,
                            onSelect: () => setOpen({ kind: 'change', webhook }),
                          },
                          {
                            label: webhook.secret === 'none' ? 'Sign deliveries' : 'Rotate secret',
                            icon: <KeyRound size={15} />,
                            onSelect: () => setOpen({ kind: 'rotate', webhook }),
                          },
                          'separator',
                          {
                            label: 'Delete',
                            icon: <Trash2 size={15} />,
                            danger: true,
                            onSelect: () => setOpen({ kind: 'delete', webhook }),
                          },
                        ]}
                      />
                    </div>
                  ) : (
                    <Badge tone={webhook.active ? 'ok' : 'plain'}>{webhook.active ? 'On' : 'Off'}</Badge>
                  )}
                </div>
              </li>
            ))}
          </ul>
        </div>
      )}
      {open?.kind === 'new' && <WebhookForm workflowId={workflowId} webhook={undefined} onClose={close} />}
      {open?.kind === 'change' && <WebhookForm workflowId={workflowId} webhook={open.webhook} onClose={close} />}
      {open?.kind === 'rotate' && <RotateSecret workflowId={workflowId} webhook={open.webhook} onClose={close} />}
      {open?.kind === 'tested' && <TestDeliveryDialog result={open.result} url={open.webhook.url} onClose={close} />}
      <Confirm
        open={open?.kind === 'delete'}
        onClose={close}
        title="Delete this webhook subscription?"
        action="Delete"
        onConfirm={async () => {
          if (open?.kind !== 'delete') return
          const params = { id: workflowId, webhookId: open.webhook.id }
          await call('DELETE /api/editor/workflows/:id/webhooks/:webhookId', { params })
          await refresh()
          toast.show({ text: 'Webhook subscription deleted. Pending deliveries continue.' })
        }}
      >
        It receives no deliveries for new runs. Its secret cannot be recovered.
      </Confirm>
    </>
  )
}

function SecretBadge({ webhook: { secret, previousSecretUntil } }: { webhook: Webhook }) {
  if (secret === 'lost') return <Badge tone="error">Secret lost: set a new one</Badge>
  if (secret === 'none') return <Badge tone="warn">Not signed</Badge>
  const isBoth = previousSecretUntil !== null && Date.parse(previousSecretUntil) > Date.now()
  return <Badge tone="ok">{isBoth ? 'Signed with two secrets' : 'Signed'}</Badge>
}

function wordsOf(webhook: Webhook): string[] {
  const { events, levelFilter, triggerFilter, retryOnNetworkError } = webhook
  const parts = [
    webhook.includeFinalOutput && 'output',
    webhook.includeTraceSpans && 'trace',
    webhook.includeRateLimits && 'rate limits',
    webhook.includeUsageData && 'usage',
  ].filter((part) => part !== false)
  return [
    `When ${events.map((event) => eventWords[event]).join(', ')}`,
    levelFilter?.length === 1 ? `${levelFilter[0] === 'error' ? 'Failed' : 'Succeeded'} runs` : 'All results',
    triggerFilter ? triggerFilter.map((trigger) => triggerLabels[trigger]).join(', ') : 'Any trigger',
    ...(parts.length > 0 ? [`With ${parts.join(', ')}`] : []),
    ...(retryOnNetworkError ? ['Retries network errors'] : []),
  ]
}
