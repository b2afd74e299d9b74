import { type Static, Type as t } from '@sinclair/typebox'
import type { ListedCredential } from '../../../credentials/credentials.ts'
import type { StartedSignIn as StartedSignInFacts } from '../../../credentials/oauth/sign-ins.ts'
import { credentialStates } from '../../../domain/credential/credential.ts'
import { credentialKindNames } from '../../../domain/credential/kinds.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'

const Kind = oneOf(credentialKindNames)
const Hosts = t.Array(t.String(), {
  description:
    'Where requests with the credential may go: names, `*.example.com`, with `:port` if it is not the default. ' +
    'Over https only, unless an entry begins with `http://` or names a local address. Not needed for kinds with a ' +
    'field `host`, which go there only.',
})
const Fields = t.Record(t.String(), t.Unknown(), {
  description: 'The settings of this kind. They may contain `{{NAME}}`.',
})

const Credential = t.Object({
  id: t.String(),
  name: t.String(),
  kind: Kind,
  hosts: Hosts,
  fields: Fields,
  secrets: t.Array(t.String(), { description: 'The names of the secrets that are set. Values are never returned.' }),
  state: oneOf(credentialStates, {
    description: '`failing`: a service refused it. `needs_sign_in`: somebody has to sign in again.',
  }),
  problem: t.Union([t.String(), t.Null()], { description: 'Why it does not work.' }),
  expiresAt: maybe(Time),
  lastUsedAt: maybe(Time),
  usedBy: t.Array(t.Object({ workflowId: t.String(), name: t.String() }), {
    description: 'Workflows whose draft or active version names it.',
  }),
  createdAt: Time,
  updatedAt: Time,
  updatedBy: t.Union([t.String(), t.Null()], {
    description: 'The e-mail address of the account that changed it last.',
  }),
})
export const CredentialResponse = t.Object(Credential.properties, { $id: 'Credential' })
export const CredentialList = listOf(Credential)

export const NewCredential = t.Object({
  name: t.String({ description: '1 to 64 letters, digits, - or _. Unique in the workspace.' }),
  kind: Kind,
  hosts: t.Optional(
    t.Array(t.String(), {
      description: `${Hosts.description} For the kind \`mcp_oauth\`, the default is the host of its \`server\`.`,
    }),
  ),
  fields: t.Optional(Fields),
  secrets: t.Optional(t.Record(t.String(), t.String(), { description: 'Encrypted at rest, and never returned.' })),
})

export const CredentialChange = t.Object({
  name: t.Optional(t.String()),
  kind: t.Optional(Kind),
  hosts: t.Optional(Hosts),
  fields: t.Optional(Fields),
  secrets: t.Optional(
    t.Record(t.String(), t.Union([t.String(), t.Null()]), {
      description: 'A secret that is not named stays; null removes it. Another kind loses all of them.',
    }),
  ),
})

export const CredentialTest = t.Object({
  url: t.Optional(
    t.String({
      description:
        'Requested with the credential. Its host must be one of the hosts. Not for credentials that name a server: ' +
        'the service connects to it.',
    }),
  ),
  method: t.Optional(t.String({ default: 'GET' })),
})
export const CredentialTestResult = t.Object({
  ok: t.Boolean(),
  status: t.Optional(t.Integer({ description: 'Of the response.' })),
  error: t.Optional(t.String()),
})

export const CredentialSignIn = t.Object({
  returnTo: t.Optional(t.String({ description: 'The path of this service that the browser goes to afterwards.' })),
})
export const StartedSignIn = t.Union([
  t.Object({ url: t.String({ description: 'The page of the provider, for the browser with the session.' }) }),
  t.Object({ userCode: t.String(), verificationUrl: t.String(), expiresAt: Time }),
])

export function startedSignInOf(started: StartedSignInFacts): Static<typeof StartedSignIn> {
  return 'url' in started ? started : { ...started, expiresAt: isoTime(started.expiresAt) }
}

export type UsedBy = readonly { workflowId: string; name: string }[]

export function credentialOf(
  { row, secrets }: ListedCredential,
  usedBy: UsedBy,
  emailOf: (userId: string) => string | null,
): Static<typeof CredentialResponse> {
  const { id, name, kind, hosts, fields, state, problem, expiresAt, lastUsedAt, createdAt, updatedAt } = row
  return {
    ...{
      id,
      name,
      kind: kind as Static<typeof Kind>,
      hosts: [...hosts],
      fields,
      secrets: [...secrets],
      state,
      problem,
    },
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
    usedBy: [...usedBy],
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    updatedBy: emailOf(row.updatedBy),
  }
}
