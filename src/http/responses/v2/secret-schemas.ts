import { type Static, Type as t } from '@sinclair/typebox'
import type { ListedCredential } from '../../../credentials/credentials.ts'
import { signsIn } from '../../../domain/credential/kinds.ts'
import { oneOf } from '../../../domain/one-of.ts'
import type { VariableRow } from '../../../store/account-store.ts'
import { isoTime, maybe, Time } from '../schema-parts.ts'

const role = oneOf(['admin', 'member'], { description: '`admin` if you may change it.' })
const scope = t.Literal('workspace', { description: 'There are no personal secrets.' })

export const SecretV2 = t.Object(
  {
    name: t.String(),
    scope,
    description: t.Null(),
    unredacted: t.Boolean({ description: 'Whether logs may show its value.' }),
    role,
    createdAt: t.String({ format: 'date-time', description: 'The same as `updatedAt`.' }),
    updatedAt: Time,
  },
  { $id: 'SecretV2' },
)
export const NewSecretV2 = t.Object(
  {
    workspaceId: t.String(),
    scope,
    value: t.String({ description: 'At most 64 KB of text.' }),
    description: t.Optional(t.Union([t.Literal(''), t.Null()], { description: 'Secrets have no description here.' })),
    unredacted: t.Optional(
      t.Boolean({
        description: 'Whether logs may show the value. When absent, it stays unchanged; for a new secret, it is false.',
      }),
    ),
  },
  { $id: 'NewSecretV2', additionalProperties: false },
)
export const DeletedSecretV2 = t.Object({ name: t.String(), scope, deleted: t.Literal(true) })

export function secretV2(
  { name, plain, updatedAt }: Pick<VariableRow, 'name' | 'plain' | 'updatedAt'>,
  mayEdit: boolean,
): Static<typeof SecretV2> {
  const at = isoTime(updatedAt)
  const facts = { name, scope: 'workspace' as const, description: null, unredacted: plain }
  return { ...facts, role: roleOf(mayEdit), createdAt: at, updatedAt: at }
}

export const credentialTypes = ['oauth', 'service_account'] as const

export const CredentialV2 = t.Object(
  {
    id: t.String(),
    type: oneOf(credentialTypes, {
      description: '`oauth` if a server issues its tokens; `service_account` for every other kind.',
    }),
    displayName: t.String({ description: 'The name by which blocks use it.' }),
    description: t.Null(),
    providerId: maybe(t.String({ description: 'Its kind in this service, such as `api_key`.' })),
    accountId: t.Null(),
    hasServiceAccountKey: t.Boolean({ description: 'Whether it stores secrets.' }),
    role,
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'CredentialV2' },
)

export function credentialV2({ row, secrets }: ListedCredential, mayEdit: boolean): Static<typeof CredentialV2> {
  return {
    ...{
      id: row.id,
      type: signsIn(row.kind) || row.kind.startsWith('oauth2_') ? 'oauth' : 'service_account',
      displayName: row.name,
    },
    ...{ description: null, providerId: row.kind, accountId: null, hasServiceAccountKey: secrets.length > 0 },
    ...{ role: roleOf(mayEdit), createdAt: isoTime(row.createdAt), updatedAt: isoTime(row.updatedAt) },
  }
}

const roleOf = (mayEdit: boolean) => (mayEdit ? 'admin' : 'member')
