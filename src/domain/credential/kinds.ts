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
  /** Parts that a part needs beside it. */
  needs?: Readonly<Record<string, readonly string[]>>
  /** The field whose URL names the only host, unless the author names others. */
  hostsFrom?: string
}

/** A text. `isLong`: of several lines. `isTexts`: an object of texts instead. `default`: for an absent one. */
export type CredentialPart = {
  label: string
  description?: string
  isRequired?: true
  isLong?: true
  isTexts?: true
  /** An http or https URL. */
  isUrl?: true
  /** HTTP statuses: a list of numbers, or a text with commas. */
  isStatuses?: true
  /** A number from 1 to 65535, or a text with one. */
  isPort?: true
  choices?: readonly string[]
  default?: string
  /** The values of another field with which this part has a meaning; only then it may be required. */
  when?: { field: string; is: readonly string[] }
}

const baseUrl: CredentialPart = {
  label: 'Base URL',
  description: 'For connectors to services that run at an address of their own, such as https://acme.atlassian.net.',
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
const privateKey: CredentialPart = { label: 'Private key', description: 'PEM.', isLong: true }
const authMethod: CredentialPart = {
  label: 'Client authentication',
  choices: ['basic', 'post', 'private_key_jwt'],
  default: 'basic',
}
const refreshStatuses: CredentialPart = {
  label: 'Refresh after status',
  description:
    'Statuses after which the service refreshes the token and sends the request once more, such as 401, 403.',
  isStatuses: true,
  default: '401',
}
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

/** A server for mail. Its credential is sent there and to no other host. */
const mailServer = (kind: 'smtp' | 'imap', ports: string) =>
  ({
    host: { label: 'Server', description: `Its name, such as ${kind}.example.com.`, isRequired: true },
    port: { label: 'Port', description: ports, isPort: true },
    tls: {
      label: 'Encryption',
      description:
        'implicit: encrypted from the start. starttls: after a command. none: not encrypted, not even the password.',
      choices: ['implicit', 'starttls', 'none'],
      default: 'implicit',
    },
  }) as const
const mailAuth: CredentialPart = {
  label: 'OAuth 2 credential',
  description:
    'The name of a credential whose token replaces the password (XOAUTH2). Its hosts must include the server.',
}

const onServer = { field: 'engine', is: ['postgres', 'mysql'] } as const
const tls: CredentialPart = {
  label: 'TLS',
  description:
    'verify: encrypted, to a server with a valid certificate. require: encrypted, whatever the certificate is. ' +
    'off: not encrypted, for safe networks only.',
  choices: ['verify', 'require', 'off'],
  default: 'verify',
}

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
      ...{ authMethod, parameters },
    },
    secrets: { clientSecret, privateKey },
    needsOneOf: [
      ['issuer', 'tokenUrl'],
      ['clientSecret', 'privateKey'],
    ],
  },
  oauth2_authorization_code: {
    label: 'OAuth 2.0: sign in',
    fields: {
      ...{ issuer, authorizationUrl: { label: 'Authorization URL' }, tokenUrl, clientId, scope },
      parameters: { ...parameters, description: 'Added to the authorization URL.' },
      ...{ authMethod, refreshStatuses },
    },
    secrets: { clientSecret, privateKey },
    needsOneOf: [
      ['issuer', 'authorizationUrl'],
      ['issuer', 'tokenUrl'],
    ],
  },
  oauth2_device: {
    label: 'OAuth 2.0: sign in on another device',
    fields: { issuer, deviceUrl: { label: 'Device URL' }, tokenUrl, clientId, scope, refreshStatuses },
    secrets: { clientSecret },
    needsOneOf: [
      ['issuer', 'deviceUrl'],
      ['issuer', 'tokenUrl'],
    ],
  },
  mcp_oauth: {
    label: 'MCP server: sign in',
    fields: {
      server: {
        label: 'Server',
        description: 'The address of an MCP server, such as https://mcp.example.com/mcp.',
        isRequired: true,
        isUrl: true,
      },
      scope: { ...scope, description: 'Scopes, separated by spaces. Absent: those that the server asks for.' },
      clientId: {
        label: 'Client ID',
        description: 'For servers at which this service cannot register itself.',
      },
      issuer: { label: 'Issuer', description: 'The authorization server, if only one may be used.', isUrl: true },
    },
    secrets: { clientSecret: { ...clientSecret, description: 'Needs the client ID and the issuer.' } },
    // Without the issuer, the MCP server decides which authorization server receives the secret.
    needs: { clientSecret: ['clientId', 'issuer'] },
    hostsFrom: 'server',
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
  sql: {
    label: 'SQL database',
    fields: {
      engine: { label: 'Engine', choices: ['postgres', 'mysql', 'sqlite'], isRequired: true },
      host: { label: 'Host', isRequired: true, when: onServer },
      port: { label: 'Port', description: 'Empty: 5432 for PostgreSQL, 3306 for MySQL.', when: onServer },
      database: {
        label: 'Database',
        description: 'The name of the database; for SQLite, the path of its file.',
      },
      user: { label: 'User', isRequired: true, when: onServer },
      tls: { ...tls, when: onServer },
    },
    secrets: { password: { label: 'Password', when: onServer } },
  },
  redis: {
    label: 'Redis',
    fields: {
      host: { label: 'Host', isRequired: true },
      port: { label: 'Port', default: '6379' },
      database: { label: 'Database', description: 'A number.', default: '0' },
      user: { label: 'User', description: 'For servers with access control lists.' },
      tls,
    },
    secrets: { password: { label: 'Password' } },
  },
  client_certificate: {
    label: 'Client certificate',
    fields: { certificate: { label: 'Certificate', description: 'PEM.', isRequired: true, isLong: true } },
    secrets: {
      privateKey: { label: 'Private key', description: 'PEM.', isRequired: true, isLong: true },
      passphrase: { label: 'Passphrase' },
    },
  },
  smtp: {
    label: 'Mail server (SMTP)',
    fields: {
      ...mailServer('smtp', 'Empty: 465, or 587 with starttls, or 25 with none.'),
      user: { label: 'User', description: 'Empty for a server without a login.' },
      auth: mailAuth,
    },
    secrets: { password: { label: 'Password' } },
  },
  imap: {
    label: 'Mailbox (IMAP)',
    fields: {
      ...mailServer('imap', 'Empty: 993, or 143 with starttls or none.'),
      user: { label: 'User', isRequired: true },
      auth: mailAuth,
    },
    secrets: { password: { label: 'Password' } },
    needsOneOf: [['password', 'auth']],
  },
} as const satisfies Readonly<Record<string, CredentialKind>>

export type CredentialKindName = keyof typeof kinds
export const credentialKindNames = Object.keys(kinds) as CredentialKindName[]

/** The kind of a name; undefined when there is none. All may have an `authority`, and those for HTTP a `baseUrl`. */
export function credentialKind(name: string): CredentialKind | undefined {
  if (!Object.hasOwn(kinds, name)) return undefined
  const kind: CredentialKind = kinds[name as CredentialKindName]
  const isForHttp = kind.fields['host'] === undefined
  return { ...kind, fields: { ...kind.fields, ...(isForHttp ? { baseUrl } : {}), authority } }
}

/** Whether a credential of this kind names its server in the field `host`, and is sent to no other. */
export function hasOwnHost(kind: string): boolean {
  return credentialKind(kind)?.fields['host'] !== undefined
}

/** Whether a person signs in to the service that a credential of this kind is for. */
export function signsIn(kind: string): boolean {
  return kind === 'oauth2_authorization_code' || kind === 'oauth2_device' || kind === 'mcp_oauth'
}

/** The statuses after which a token is refreshed, from the field `refreshStatuses`. */
export function refreshStatusesOf(fields: Readonly<Record<string, unknown>>): readonly number[] {
  const written = fields['refreshStatuses'] ?? '401'
  const statuses = typeof written === 'string' ? written.split(/[\s,]+/) : Array.isArray(written) ? written : []
  return statuses.map(Number).filter((status) => Number.isInteger(status) && status >= 300 && status <= 599)
}

/** Whether requests with this kind need a token that a server issues. */
export function needsToken(kind: string): boolean {
  return kind.startsWith('oauth2_') || kind === 'mcp_oauth' || kind === 'google_service_account'
}
