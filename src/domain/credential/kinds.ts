/**
 * The kinds of credentials as data: the API checks credentials against them, and the editor and the documentation show
 * them. Every value may contain `{{NAME}}`.
 */
export type CredentialKind = {
  label: string
  fields: Readonly<Record<string, CredentialPart>>
  secrets: Readonly<Record<string, CredentialPart>>
  /** Lists of parts of which one is needed, such as `issuer` or `tokenUrl`. */
  needsOneOf?: readonly (readonly string[])[]
}

/** A text. `isLong`: of several lines. `isTexts`: an object of texts instead. `default`: for an absent one. */
export type CredentialPart = {
  label: string
  description?: string
  isRequired?: true
  isLong?: true
  isTexts?: true
  choices?: readonly string[]
  default?: string
}

const authority: CredentialPart = {
  label: 'Certificate authority',
  description: 'PEM. Set it for servers whose certificate comes from a private authority.',
  isLong: true,
}

const issuer: CredentialPart = { label: 'Issuer', description: 'The URL whose metadata document names the endpoints.' }
const tokenUrl: CredentialPart = { label: 'Token URL' }
const clientId: CredentialPart = { label: 'Client ID', isRequired: true }
const clientSecret: CredentialPart = { label: 'Client secret' }
const scope: CredentialPart = { label: 'Scope', description: 'Scopes, separated by spaces.' }
const parameters: CredentialPart = { label: 'Further parameters', isTexts: true }
const user = {
  fields: { username: { label: 'User name', isRequired: true } },
  secrets: { password: { label: 'Password', isRequired: true } },
} as const
const named = (label: string, description: string) =>
  ({
    fields: { name: { label, description, isRequired: true } },
    secrets: { value: { label: 'Value', isRequired: true } },
  }) as const

const kinds = {
  basic: { label: 'User name and password', ...user },
  digest: { label: 'User name and password (digest)', ...user },
  bearer: {
    label: 'Bearer token',
    fields: { prefix: { label: 'Prefix', description: 'Stands before the token.', default: 'Bearer' } },
    secrets: { token: { label: 'Token', isRequired: true } },
  },
  header: { label: 'Header', ...named('Header name', 'For example X-API-Key.') },
  query: { label: 'Query parameter', ...named('Parameter name', 'For example api_key.') },
  path: { label: 'Part of the path', ...named('Name', 'The name of a {name} in the path of the URL.') },
  oauth2_client_credentials: {
    label: 'OAuth 2.0: client credentials',
    fields: {
      ...{ issuer, tokenUrl, clientId, scope, audience: { label: 'Audience' } },
      authMethod: {
        label: 'Client authentication',
        choices: ['basic', 'post', 'private_key_jwt'],
        default: 'basic',
      },
      parameters,
    },
    secrets: { clientSecret, privateKey: { label: 'Private key', description: 'PEM.', isLong: true } },
    needsOneOf: [
      ['issuer', 'tokenUrl'],
      ['clientSecret', 'privateKey'],
    ],
  },
  google_service_account: {
    label: 'Google service account',
    fields: {
      scope: { ...scope, isRequired: true },
      subject: { label: 'Subject', description: 'The user on whose behalf requests are made.' },
      tokenUrl: { ...tokenUrl, description: 'Absent: the one in the key.' },
    },
    secrets: { key: { label: 'Key', description: 'The JSON text of the key file.', isRequired: true, isLong: true } },
  },
  aws_sigv4: {
    label: 'AWS signature',
    fields: {
      accessKeyId: { label: 'Access key ID', isRequired: true },
      region: { label: 'Region', isRequired: true },
      service: { label: 'Service', description: 'For example s3 or execute-api.', isRequired: true },
    },
    secrets: {
      secretAccessKey: { label: 'Secret access key', isRequired: true },
      sessionToken: { label: 'Session token' },
    },
  },
  client_certificate: {
    label: 'Client certificate',
    fields: { certificate: { label: 'Certificate', description: 'PEM.', isRequired: true, isLong: true } },
    secrets: {
      privateKey: { label: 'Private key', description: 'PEM.', isRequired: true, isLong: true },
      passphrase: { label: 'Passphrase' },
    },
  },
} as const satisfies Readonly<Record<string, CredentialKind>>

export type CredentialKindName = keyof typeof kinds
export const credentialKindNames = Object.keys(kinds) as CredentialKindName[]

/** The kind of a name; undefined when there is none. Any kind may have an `authority`. */
export function credentialKind(name: string): CredentialKind | undefined {
  if (!Object.hasOwn(kinds, name)) return undefined
  const kind: CredentialKind = kinds[name as CredentialKindName]
  return { ...kind, fields: { ...kind.fields, authority } }
}

/** Whether requests with this kind need a token that a server issues. */
export function needsToken(kind: string): boolean {
  return kind.startsWith('oauth2_') || kind === 'google_service_account'
}
