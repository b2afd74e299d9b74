import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { hasOwnHost, signsIn } from '../../../domain/credential/kinds.ts'
import { call, type ResponseOf } from '../../api/call.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { credentialsQuery } from '../../shell/credentials-query.ts'
import { useSignedInNotice, without } from '../../shell/use-signed-in-notice.ts'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { CredentialDialog } from './credential-dialog.tsx'
import { CredentialSignIn } from './credential-sign-in.tsx'
import { CredentialTestDialog } from './credential-test-dialog.tsx'
import { Section } from './section.tsx'

type Credential = ResponseOf<'GET /api/workspaces/:id/credentials'>['data'][number]

const states: Record<Credential['state'], { label: string; tone: Tone }> = {
  untested: { label: 'Not used yet', tone: 'plain' },
  ok: { label: 'Works', tone: 'ok' },
  failing: { label: 'Refused', tone: 'error' },
  needs_sign_in: { label: 'Needs sign-in', tone: 'warn' },
}

/** Where a credential may be sent. */
function hostsText({ kind, hosts, fields }: Credential): string {
  return hasOwnHost(kind) ? String(fields['host'] ?? fields['database'] ?? '') : hosts.join(', ')
}

/** Credentials for other services, which blocks name. Secrets are never shown again. */
export function CredentialsSection() {
  const { id } = useWorkspace()
  const mayWrite = useMayWrite()
  const queries = useQueryClient()
  const toast = useToast()
  const [edited, setEdited] = useState<Credential | 'new'>()
  const [tested, setTested] = useState<Credential>()
  const [removed, setRemoved] = useState<Credential>()
  const [signIn, setSignIn] = useSignIn()
  const { data, error, refetch } = useQuery(credentialsQuery(id))
  const users = removed?.usedBy ?? []
  const signingIn = mayWrite ? data?.data.find(({ name, kind }) => name === signIn && signsIn(kind)) : undefined
  const add = mayWrite && (
    <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => setEdited('new')}>
      New credential
    </Button>
  )
  return (
    <Section
      title="Credentials"
      note="Blocks name a credential to sign in to another service. It is sent to its own hosts only, and encrypted at rest."
      action={data && data.data.length > 0 && add}
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={3} />
      ) : data.data.length === 0 ? (
        <Empty icon={<KeyRound size={22} />} title="No credentials yet" action={add}>
          Store passwords and tokens for other services here, bound to their hosts.
        </Empty>
      ) : (
        <Table label="Credentials" wideOnly={[1, 3, 4]} head={['Name', 'Hosts', 'State', 'Used by', 'Last used', '']}>
          {data.data.map((credential) => (
            <Row key={credential.id}>
              <Cell className="font-mono text-xs font-medium">{credential.name}</Cell>
              <Cell className="max-w-60 truncate text-muted max-md:hidden">{hostsText(credential)}</Cell>
              <Cell>
                <Badge tone={states[credential.state].tone}>{states[credential.state].label}</Badge>
                {credential.problem !== null && <p className="mt-1 text-xs text-muted">{credential.problem}</p>}
              </Cell>
              <Cell className="max-w-48 truncate text-muted max-md:hidden">{usersText(credential)}</Cell>
              <Cell className="text-muted whitespace-nowrap max-md:hidden">
                {credential.lastUsedAt === null ? 'Never' : <TimeAgo at={credential.lastUsedAt} />}
              </Cell>
              <Cell className="text-right whitespace-nowrap">
                {mayWrite && (
                  <span className="inline-flex gap-2 max-md:flex-col max-md:py-2">
                    {signsIn(credential.kind) && (
                      <Button size="small" onClick={() => setSignIn(credential.name)}>
                        Sign in
                      </Button>
                    )}
                    <Button size="small" onClick={() => setTested(credential)}>
                      Test
                    </Button>
                    <Button size="small" onClick={() => setEdited(credential)}>
                      Change
                    </Button>
                    <Button size="small" look="danger" onClick={() => setRemoved(credential)}>
                      Delete
                    </Button>
                  </span>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {edited && (
        <CredentialDialog
          workspaceId={id}
          credential={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={({ name, kind, state }) => signsIn(kind) && state === 'needs_sign_in' && setSignIn(name)}
        />
      )}
      {signingIn && <CredentialSignIn workspaceId={id} credential={signingIn} onClose={() => setSignIn(undefined)} />}
      {tested && <CredentialTestDialog workspaceId={id} credential={tested} onClose={() => setTested(undefined)} />}
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Delete ${removed?.name ?? 'the credential'}?`}
        action="Delete"
        onConfirm={async () => {
          const name = removed?.name ?? ''
          const query = { force: 'true' }
          await call('DELETE /api/workspaces/:id/credentials/:name', { params: { id, name }, query })
          await queries.invalidateQueries(credentialsQuery(id))
          toast.show({ text: `${name} was deleted.` })
        }}
      >
        {users.length > 0
          ? `These workflows use it and will fail: ${users.map(({ name }) => name).join(', ')}.`
          : 'No workflow uses it. Its secrets cannot be recovered.'}
      </Confirm>
    </Section>
  )
}

/** The name of the credential with which the person is signing in. The URL can say so, as after a sign-in. */
function useSignIn(): [string | undefined, (name: string | undefined) => void] {
  useSignedInNotice()
  const [search, setSearch] = useSearchParams()
  const [name, setName] = useState(search.get('sign-in') ?? undefined)
  const change = (next: string | undefined) => {
    setName(next)
    if (search.has('sign-in')) setSearch(without('sign-in'), { replace: true })
  }
  return [name, change]
}

function usersText({ usedBy }: Credential): string {
  const [first, ...others] = usedBy
  if (!first) return 'Nothing'
  return others.length === 0 ? first.name : `${first.name} and ${others.length} more`
}
