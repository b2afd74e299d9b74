import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { call, type ResponseOf } from '../../api/call.ts'
import { useMe } from '../../api/session.ts'
import { countOf } from '../../parts/amount-text.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { dateText } from '../../parts/time-text.ts'
import { useToast } from '../../parts/toast.tsx'
import { NewKeyDialog, keysKey as queryKey } from './new-key-dialog.tsx'
import { Section } from './section.tsx'

type Key = ResponseOf<'GET /api/editor/keys'>['data'][number]

/** API keys, which programs use to call the service. */
export function KeysSection() {
  const { user, workspaces } = useMe()
  const [isAdding, setIsAdding] = useState(false)
  const [revoked, setRevoked] = useState<Key>()
  const [isAll, setIsAll] = useState(false)
  const queries = useQueryClient()
  const toast = useToast()
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('GET /api/editor/keys', { signal }),
  })
  const workspaceOf = ({ workspaceId }: Key) => workspaces.find(({ id }) => id === workspaceId)?.name
  const active = data?.data.filter(({ isActive }) => isActive) ?? []
  const gone = (data?.data.length ?? 0) - active.length
  const shown = isAll ? data?.data : active
  return (
    <Section
      title="API keys"
      note="Programs authenticate with an API key in the X-API-Key header."
      action={
        <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => setIsAdding(true)}>
          {' '}
          New API key
        </Button>
      }
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !shown ? (
        <Loading lines={3} />
      ) : shown.length === 0 ? (
        <Empty icon={<KeyRound size={22} />} title="No API keys yet">
          Create one to call workflows from your programs.
        </Empty>
      ) : (
        <Table label="API keys" wideOnly={[2, 4]} head={['Name', 'Key', 'Access', 'Last used', 'Created', '']}>
          {shown.map((key) => (
            <Row key={key.id}>
              <Cell className="max-w-60">
                <span className="block truncate font-medium">{key.name}</span>
                {key.userId !== user.id && <span className="block text-xs text-muted">another member</span>}
              </Cell>
              <Cell className="font-mono text-xs whitespace-nowrap text-muted">mrk_…{key.lastFour}</Cell>
              <Cell className="text-muted max-md:hidden">
                {key.workspaceId ? (workspaceOf(key) ?? 'One workspace') : 'All workspaces'}
              </Cell>
              <Cell className="text-muted">{key.lastUsedAt ? <TimeAgo at={key.lastUsedAt} /> : 'Never'}</Cell>
              <Cell className="text-muted max-md:hidden">
                <TimeAgo at={key.createdAt} />
              </Cell>
              <Cell className="text-right whitespace-nowrap">
                <KeyState data={key} onRevoke={() => setRevoked(key)} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {gone > 0 && (
        <div>
          <Button look="quiet" size="small" onClick={() => setIsAll(!isAll)}>
            {isAll ? 'Hide inactive keys' : `Show ${countOf(gone, 'inactive key')}`}
          </Button>
        </div>
      )}
      {isAdding && <NewKeyDialog onClose={() => setIsAdding(false)} />}
      <Confirm
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke ${revoked?.name ?? 'the API key'}?`}
        action="Revoke"
        onConfirm={async () => {
          await call('DELETE /api/editor/keys/:id', { params: { id: revoked?.id ?? '' } })
          await queries.invalidateQueries({ queryKey })
          toast.show({ text: 'API key revoked. It stops working within 5 seconds.' })
        }}
      >
        Programs that use this key will be rejected. This cannot be undone.
      </Confirm>
    </Section>
  )
}

function KeyState({ data: { isActive, revokedAt, expiresAt }, onRevoke }: { data: Key; onRevoke: () => void }) {
  if (revokedAt) return <Badge>Revoked</Badge>
  if (!isActive) return <Badge>Expired</Badge>
  return (
    <span className="inline-flex items-center gap-2">
      {expiresAt && <Badge tone="warn">Until {dateText(Date.parse(expiresAt))}</Badge>}
      <Button size="small" look="danger" onClick={onRevoke}>
        Revoke
      </Button>
    </span>
  )
}
