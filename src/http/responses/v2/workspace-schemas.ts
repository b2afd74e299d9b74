import { type Static, Type as t } from '@sinclair/typebox'
import type { Role } from '../../../domain/account/role.ts'
import { oneOf } from '../../../domain/one-of.ts'
import type { MemberRow, WorkspaceRow } from '../../../store/account-store.ts'
import { isoTime, maybe, Time } from '../schema-parts.ts'

export const MetaV2 = t.Object(
  {
    v2Enabled: t.Literal(true),
    keyType: oneOf(['personal', 'workspace'], {
      description: '`workspace` if the key can access only one workspace.',
    }),
    expiresAt: maybe(Time),
  },
  { $id: 'MetaV2' },
)

export const WorkspaceV2 = t.Object(
  {
    id: t.String(),
    name: t.String(),
    color: t.String({ description: 'Always the same: workspaces have no colour here.' }),
    logoUrl: t.Null(),
    memberCount: t.Integer(),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'WorkspaceV2' },
)

export function workspaceV2(
  { id, name, createdAt }: WorkspaceRow,
  members: readonly MemberRow[],
): Static<typeof WorkspaceV2> {
  const at = isoTime(createdAt)
  return { id, name, color: '#6b7280', logoUrl: null, memberCount: members.length, createdAt: at, updatedAt: at }
}

export const MemberV2 = t.Object(
  {
    userId: t.String(),
    email: t.String(),
    name: t.String({ description: 'The e-mail address, because accounts have no other name.' }),
    image: t.Null(),
    role: oneOf(['admin', 'write', 'read'], { description: '`admin`: the owner; `write`: editors; `read`: viewers.' }),
    isExternal: t.Literal(false),
    joinedAt: t.String({ format: 'date-time', description: 'The time when the workspace was created.' }),
  },
  { $id: 'MemberV2' },
)

const roles = { owner: 'admin', editor: 'write', viewer: 'read' } as const satisfies Record<Role, string>

export function memberV2(
  { userId, email, role }: MemberRow,
  { createdAt }: Pick<WorkspaceRow, 'createdAt'>,
): Static<typeof MemberV2> {
  const facts = { userId, email, name: email, image: null, role: roles[role] }
  return { ...facts, isExternal: false, joinedAt: isoTime(createdAt) }
}
