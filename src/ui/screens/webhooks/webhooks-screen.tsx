import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { call } from '../../api/call.ts'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Page } from '../../shell/page.tsx'
import { useWorkspaceOf } from '../../shell/workspace.tsx'
import { DeliveryList } from './delivery-list.tsx'
import { DeliveryPanel } from './delivery-panel.tsx'
import { WebhookList } from './webhook-list.tsx'
import { type DeliveryState, states } from './webhook-queries.ts'

/** The webhook subscriptions and deliveries of a workflow. The current view is stored in the URL. */
export function WebhooksScreen({ params: { id } }: { params: { id: string } }) {
  const [search, setSearch] = useSearchParams()
  const { data, error, refetch } = useQuery({
    queryKey: ['workflow-facts', id],
    queryFn: ({ signal }) => call('GET /api/workflows/:id', { params: { id }, signal }),
  })
  const workspace = useWorkspaceOf(data?.workspaceId)
  const mayWrite = workspace.role !== 'viewer'
  const view = search.get('view') === 'deliveries' ? 'deliveries' : 'webhooks'
  const state = states.find((each) => each === search.get('state'))
  const deliveryId = search.get('delivery') ?? undefined
  const go = (next: { view?: string; state?: DeliveryState | undefined; delivery?: string | undefined }) =>
    setSearch(
      (before) => {
        const all = { ...Object.fromEntries(before), ...next }
        return new URLSearchParams(
          Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
        )
      },
      { replace: next.delivery !== undefined && deliveryId !== undefined },
    )
  return (
    <Page
      title="Webhook subscriptions"
      actions={<DocsLink to={docs.webhooks} />}
      crumbs={[
        { label: 'Workflows', href: `/w/${workspace.id}/workflows` },
        { label: data?.name ?? '…', href: `/workflows/${id}` },
      ]}
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} title="This workflow could not be opened" />
      ) : !data ? (
        <Loading />
      ) : (
        <div className="flex min-h-0 flex-1">
          <div className="flex min-w-0 flex-1 flex-col pt-1">
            <Tabs
              label="Webhook subscriptions"
              value={view}
              onChange={(next) => go({ view: next, delivery: undefined, state: undefined })}
              className="[&>div:first-child]:px-2 md:[&>div:first-child]:px-4"
              tabs={[
                {
                  value: 'webhooks',
                  label: 'Subscriptions',
                  content: (
                    <Body>
                      <WebhookList workflowId={id} mayWrite={mayWrite} />
                    </Body>
                  ),
                },
                {
                  value: 'deliveries',
                  label: 'Deliveries',
                  content: (
                    <Body>
                      <DeliveryList
                        workflowId={id}
                        mayWrite={mayWrite}
                        state={state}
                        onState={(next) => go({ state: next, delivery: undefined })}
                        chosen={deliveryId}
                        onChoose={(delivery) => go({ delivery })}
                      />
                    </Body>
                  ),
                },
              ]}
            />
          </div>
          {view === 'deliveries' && deliveryId && (
            <DeliveryPanel
              key={deliveryId}
              workflowId={id}
              deliveryId={deliveryId}
              mayWrite={mayWrite}
              onClose={() => go({ delivery: undefined })}
            />
          )}
        </div>
      )}
    </Page>
  )
}

function Body({ children }: { children: React.ReactNode }) {
  return <div className="flex w-full max-w-280 flex-1 flex-col px-4 py-5 md:px-6">{children}</div>
}
