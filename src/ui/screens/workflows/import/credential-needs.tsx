import { useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { CredentialOffer } from '../../../../domain/connector/connector.ts'
import { type CredentialKindName, credentialKind, credentialKindNames } from '../../../../domain/credential/kinds.ts'
import { isRecord } from '../../../../domain/edits/same-value.ts'
import { countOf } from '../../../parts/amount-text.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Button } from '../../../parts/button.tsx'
import { connectorQuery } from '../../../shell/connectors-query.ts'
import { credentialsQuery } from '../../../shell/credentials-query.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { Fact } from './report-parts.tsx'
import { type ImportReport, importedQuery } from './sim-imports.ts'

// Loaded on demand: few imports need it.
const CredentialDialog = lazy(async () => ({
  default: (await import('../../settings/credential-dialog.tsx')).CredentialDialog,
}))

type Need = ImportReport['credentials'][number]

/** The credentials that imported blocks name, with a button to create each missing one. */
export function CredentialNeeds({ workflowId, credentials }: { workflowId: string; credentials: readonly Need[] }) {
  const { id: workspaceId } = useWorkspace()
  const [created, setCreated] = useState<Need>()
  const { data } = useQuery(credentialsQuery(workspaceId))
  const { data: workflow } = useQuery(importedQuery(workflowId))
  const known = new Set(data?.data.map(({ name }) => name))
  const blocks = (workflow?.blocks ?? {}) as Blocks
  return (
    <div>
      <Fact icon={<KeyRound size={15} className="text-accent-text" aria-hidden="true" />}>
        The workspace needs {countOf(credentials.length, 'credential')}:
      </Fact>
      <ul aria-label="Credentials" className="mt-1.5 ml-6 flex flex-col gap-1.5">
        {credentials.map((need) => (
          <li key={need.name} className="flex min-h-7 flex-wrap items-center gap-2 text-sm">
            <span className="font-mono text-xs break-all">{need.name}</span>
            {need.kind !== undefined && (
              <span className="text-xs text-muted">{credentialKind(need.kind)?.label ?? need.kind}</span>
            )}
            <span className="text-xs text-muted">
              for {need.for.map((blockId) => blocks[blockId]?.name ?? blockId).join(', ')}
            </span>
            {known.has(need.name) ? (
              <Badge tone="ok">Exists</Badge>
            ) : (
              data && (
                <Button size="small" aria-label={`Create ${need.name}`} onClick={() => setCreated(need)}>
                  Create
                </Button>
              )
            )}
          </li>
        ))}
      </ul>
      {created && (
        <Suspense>
          <NewCredential
            workspaceId={workspaceId}
            need={created}
            blocks={blocks}
            onClose={() => setCreated(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
}

type Blocks = Readonly<Record<string, { name: string; params?: Readonly<Record<string, unknown>> } | undefined>>

/** The dialog for a new credential, with its name, its kind, and the fields that the service needs. */
function NewCredential({
  workspaceId,
  need,
  blocks,
  onClose,
}: {
  workspaceId: string
  need: Need
  blocks: Blocks
  onClose: () => void
}) {
  const { connector = '', url } = usedFor(need, blocks)
  const { data, isPending } = useQuery(connectorQuery(workspaceId, connector))
  // The dialog reads its first values only once.
  if (connector !== '' && isPending) return null
  const offers = data?.credentials ?? []
  const first = offers.find(({ kind }) => kind === need.kind)
  const host = hostOf(url)
  const kind = kindOf(need.kind)
  const own: Offer[] = kind === undefined ? [] : [{ kind, ...(host === undefined ? {} : { hosts: [host] }) }]
  return (
    <CredentialDialog
      workspaceId={workspaceId}
      credential={undefined}
      named={need.name}
      offers={first ? [first, ...offers.filter((each) => each !== first)] : [...own, ...offers]}
      title={data ? `New credential for ${data.name}` : 'New credential'}
      onClose={onClose}
    />
  )
}

type Offer = Pick<CredentialOffer, 'kind' | 'hosts'>

function kindOf(kind: string | undefined): CredentialKindName | undefined {
  return credentialKindNames.find((each) => each === kind)
}

/** The service or the URL for which a block or a tool of an agent uses a credential. */
function usedFor({ name, for: blockIds }: Need, blocks: Blocks): { connector?: string; url?: string } {
  for (const id of blockIds) {
    const params = blocks[id]?.params ?? {}
    const tools = Array.isArray(params['tools']) ? (params['tools'] as unknown[]) : []
    for (const user of [params, ...tools.flatMap((tool) => (isRecord(tool) ? [tool, tool['params']] : []))]) {
      if (!isRecord(user) || user['credential'] !== name) continue
      const { connector, url } = user
      if (typeof connector === 'string') return { connector }
      if (typeof url === 'string') return { url }
    }
  }
  return {}
}

function hostOf(url: string | undefined): string | undefined {
  return /^https?:\/\/([^/?#<>{}]+)/i.exec(url ?? '')?.[1]
}
