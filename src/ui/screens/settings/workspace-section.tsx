import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, UserPlus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { call, type ResponseOf } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { sessionKey, useMe } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Select, SelectField, TextField } from '../../parts/field.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { Section } from './section.tsx'

type Member = ResponseOf<'GET /api/editor/workspaces/:id/members'>['data'][number]
type SharedRole = 'editor' | 'viewer'

const roles = [
  { value: 'editor', label: 'Editor: can edit and run' },
  { value: 'viewer', label: 'Viewer: read-only' },
] as const

/** The name and members of the workspace. */
export function WorkspaceSection() {
  const workspace = useWorkspace()
  const [isMaking, setIsMaking] = useState(false)
  const isOwner = workspace.role === 'owner'
  return (
    <>
      <Section
        title="Workspace"
        note="Workflows, environment variables and logs belong to a workspace. Members see only their own workspaces."
        action={
          <Button icon={<Plus size={15} aria-hidden="true" />} onClick={() => setIsMaking(true)}>
            New workspace
          </Button>
        }
      >
        <RenameForm key={workspace.name} isOwner={isOwner} />
      </Section>
      <Members isOwner={isOwner} />
      {isMaking && <NewWorkspace onClose={() => setIsMaking(false)} />}
    </>
  )
}

function RenameForm({ isOwner }: { isOwner: boolean }) {
  const { id, name: before } = useWorkspace()
  const [name, setName] = useState(before)
  const queries = useQueryClient()
  const toast = useToast()
  const rename = useMutation({
    mutationFn: () => call('PATCH /api/editor/workspaces/:id', { params: { id }, body: { name: name.trim() } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: sessionKey })
      toast.show({ text: 'Workspace renamed.' })
    },
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate()
  }
  return (
    <form onSubmit={send} className="flex max-w-104 items-end gap-2">
      <div className="flex-1">
        <TextField
          label="Name"
          error={rename.isError ? messageOf(rename.error) : undefined}
          required
          maxLength={200}
          readOnly={!isOwner}
          value={name}
          onChange={setName}
        />
      </div>
      {isOwner && (
        <Button type="submit" busy={rename.isPending} disabled={name.trim() === before || name.trim() === ''}>
          Rename
        </Button>
      )}
    </form>
  )
}

function Members({ isOwner }: { isOwner: boolean }) {
  const { id } = useWorkspace()
  const { user } = useMe()
  const [isAdding, setIsAdding] = useState(false)
  const [removed, setRemoved] = useState<Member>()
  const queries = useQueryClient()
  const toast = useToast()
  const [, navigate] = useLocation()
  const queryKey = ['members', id]
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('GET /api/editor/workspaces/:id/members', { params: { id }, signal }),
  })
  const changeRole = useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: SharedRole }) =>
      call('PATCH /api/editor/workspaces/:id/members/:userId', { params: { id, userId }, body: { role } }),
    onSettled: () => queries.invalidateQueries({ queryKey }),
    onError: toast.fail,
  })
  const isSelf = removed?.userId === user.id
  return (
    <Section
      title="Members"
      note="Editors can change and run everything in the workspace. Viewers have read-only access. The owner manages members."
      action={
        isOwner && (
          <Button look="primary" icon={<UserPlus size={15} aria-hidden="true" />} onClick={() => setIsAdding(true)}>
            Add member
          </Button>
        )
      }
    >
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={3} />
      ) : (
        <Table label="Members" head={['Email', 'Role', '']}>
          {data.data.map((member) => (
            <Row key={member.userId}>
              <Cell className="font-medium">
                {member.email}
                {member.userId === user.id && <span className="ml-2 text-xs font-normal text-muted">you</span>}
              </Cell>
              <Cell className="w-60">
                {member.role === 'owner' || !isOwner ? (
                  <span className="text-muted">{roleWords[member.role]}</span>
                ) : (
                  <Select
                    aria-label={`Role of ${member.email}`}
                    value={member.role}
                    options={roles}
                    disabled={changeRole.isPending}
                    onChange={(event) =>
                      changeRole.mutate({ userId: member.userId, role: event.target.value as SharedRole })
                    }
                  />
                )}
              </Cell>
              <Cell className="text-right">
                {member.role !== 'owner' && (isOwner || member.userId === user.id) && (
                  <Button size="small" look="danger" onClick={() => setRemoved(member)}>
                    {member.userId === user.id ? 'Leave' : 'Remove'}
                  </Button>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {isAdding && (
        <AddMember onClose={() => setIsAdding(false)} onAdded={() => queries.invalidateQueries({ queryKey })} />
      )}
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={isSelf ? 'Leave this workspace?' : `Remove ${removed?.email ?? 'the member'}?`}
        action={isSelf ? 'Leave' : 'Remove'}
        onConfirm={async () => {
          await call('DELETE /api/editor/workspaces/:id/members/:userId', {
            params: { id, userId: removed?.userId ?? '' },
          })
          if (isSelf) {
            await queries.invalidateQueries({ queryKey: sessionKey })
            navigate('/')
          } else await queries.invalidateQueries({ queryKey })
        }}
      >
        {isSelf
          ? 'Only the owner can add you back.'
          : 'Their work stays. Their API keys lose access to this workspace within 5 seconds.'}
      </Confirm>
    </Section>
  )
}

const roleWords = { owner: 'Owner', editor: 'Editor', viewer: 'Viewer' }

function AddMember({ onClose, onAdded }: { onClose: () => void; onAdded: () => Promise<unknown> }) {
  const { id } = useWorkspace()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<SharedRole>('editor')
  const add = async () => {
    await call('POST /api/editor/workspaces/:id/members', { params: { id }, body: { email: email.trim(), role } })
    await onAdded()
    onClose()
  }
  return (
    <FormDialog title="Add member" width="small" submit="Add" onClose={onClose} onSubmit={add}>
      <TextField
        label="Email"
        note="The account must already exist. The administrator of this service creates accounts."
        type="email"
        required
        autoFocus
        value={email}
        onChange={setEmail}
      />
      <SelectField label="Role" value={role} options={roles} onChange={setRole} />
    </FormDialog>
  )
}

function NewWorkspace({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const create = async () => {
    const { id } = await call('POST /api/editor/workspaces', { body: { name: name.trim() } })
    await queries.invalidateQueries({ queryKey: sessionKey })
    onClose()
    navigate(`/w/${id}/workflows`)
  }
  return (
    <FormDialog title="New workspace" width="small" submit="Create workspace" onClose={onClose} onSubmit={create}>
      <TextField label="Name" required autoFocus maxLength={200} value={name} onChange={setName} />
    </FormDialog>
  )
}
