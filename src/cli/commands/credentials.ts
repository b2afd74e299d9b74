import { readFileSync } from 'node:fs'
import { type CredentialEdit, Credentials, type ListedCredential } from '../../credentials/credentials.ts'
import { systemClock } from '../../domain/clock.ts'
import { credentialKind, credentialKindNames, hasOwnHost } from '../../domain/credential/kinds.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { type Call, type Command, CommandError, type CommandGroup, UsageError } from '../command.ts'
import { withInstallation } from '../installation/installation.ts'
import { pathOf } from '../support/client.ts'
import { boxOf, workspaceOf } from '../support/opened-store.ts'
import { printList } from '../support/print-list.ts'
import { clientOf, workspaceOf as workspaceOnService } from '../support/service.ts'

const workspace = { value: 'ID', description: 'the workspace; optional if there is only one' }
const name = { name: 'NAME', description: 'the name that blocks use: letters, digits, - and _' }
const listAll = 'List all credentials: millrace credentials list'

const list: Command = {
  summary: 'prints the credentials of a workspace, never their secrets',
  flags: { workspace },
  settings: ['data', 'store', 'secretKey'],
  json: true,
  examples: ['credentials list', 'credentials list --json'],
  async run(call) {
    const all = await withCredentials(call, (credentials, workspaceId) => credentials.list(workspaceId))
    printList(call, all, {
      data: shownOf,
      line: ({ row: { name, kind, hosts, state } }) => [name, `${kind}  ${state}  ${hosts.join(', ')}`],
      none: 'There is no credential.',
    })
    return 0
  },
}

const show: Command = {
  summary: 'prints a credential: its kind, hosts, fields and state, and the names of its secrets',
  arguments: [name],
  flags: { workspace },
  settings: ['data', 'store', 'secretKey'],
  json: true,
  examples: ['credentials show crm', 'credentials show crm --json'],
  async run(call) {
    const named = call.arguments[0]!
    const found = await withCredentials(call, (credentials, workspaceId) => credentials.get(workspaceId, named))
    const shown = shownOf(found)
    if (call.json) call.terminal.print(JSON.stringify(shown, null, 2))
    else {
      const lines = Object.entries(shown).map(
        ([member, value]) => [member, typeof value === 'string' ? value : JSON.stringify(value)] as const,
      )
      printList(call, lines, { line: (line) => line })
    }
    return 0
  },
}

const set: Command = {
  summary: 'creates a credential, or changes one; takes effect within 5 seconds',
  details: [
    'Values of secrets come from standard input, one a line, in the order of the --secret flags; the only secret may have',
    'several lines. In a terminal, the command asks for each without showing it. NAME=@FILE reads a file, for example a',
    'certificate. Fields and secrets that the command does not name stay as they are.',
    `Kinds: ${credentialKindNames.join(', ')}.`,
  ].join('\n'),
  arguments: [name],
  flags: {
    kind: { value: 'KIND', description: 'how requests are authenticated; needed for a new credential' },
    hosts: { value: 'HOSTS', description: 'where it may be sent: names or *.example.com, separated by commas' },
    field: { value: 'NAME=VALUE', description: 'a setting of the kind; may be given repeatedly', many: true },
    secret: { value: 'NAME', description: 'a secret to set; may be given repeatedly', many: true },
    workspace,
  },
  settings: ['data', 'store', 'secretKey'],
  examples: [
    'credentials set crm --kind bearer --hosts api.crm.example.com --secret token < token.txt',
    'credentials set shop --kind basic --hosts shop.example.com --field username=ada --secret password < password.txt',
  ],
  async run(call) {
    const named = call.arguments[0]!
    const edit = await editOf(call)
    const isNew = await withCredentials(call, async (credentials, workspaceId, ownerId) => {
      const known = (await credentials.list(workspaceId)).find(({ row }) => row.name === named)
      const fields = edit.fields && { fields: { ...known?.row.fields, ...edit.fields } }
      if (known) await credentials.change(workspaceId, named, { ...edit, ...fields }, ownerId)
      else await credentials.create(workspaceId, newOf(named, edit), ownerId)
      return !known
    })
    call.terminal.say(`${named} is ${isNew ? 'set' : 'changed'}.`)
    return 0
  },
}

const remove: Command = {
  summary: 'deletes a credential; requests with it fail within 5 seconds',
  arguments: [name],
  flags: { workspace },
  settings: ['data', 'store', 'secretKey'],
  examples: ['credentials delete crm'],
  async run(call) {
    const named = call.arguments[0]!
    const found = await withCredentials(call, (credentials, workspaceId) => credentials.delete(workspaceId, named))
    if (!found) throw new CommandError(`Unknown credential ${named}.`, listAll)
    call.terminal.say(`${named} is gone.`)
    return 0
  },
}

const test: Command = {
  summary: 'asks the service to send a request with a credential; exits with 1 if it is refused',
  arguments: [name],
  flags: {
    request: { value: 'URL', description: 'the URL to request; one of the hosts of the credential' },
    method: { value: 'METHOD', description: 'by default GET' },
    workspace,
  },
  settings: ['url', 'apiKey'],
  json: true,
  examples: ['credentials test crm --request https://api.crm.example.com/me'],
  async run(call) {
    const { flags, terminal, json } = call
    const client = clientOf(call)
    const id = await workspaceOnService(client, flags['workspace'])
    const { request: url, method } = flags
    const path = pathOf`/api/workspaces/${id}/credentials/${call.arguments[0]!}/test`
    const result = await client.post<{ ok: boolean; status?: number; error?: string }>(path, { url, method })
    if (json) terminal.print(JSON.stringify(result))
    else terminal.print(result.ok ? `ok${result.status === undefined ? '' : ` ${result.status}`}` : `${result.error}`)
    return result.ok ? 0 : 1
  },
}

const signIn: Command = {
  summary: 'prints where a person signs in with a credential',
  details:
    'The page asks for a session of the service. For a device sign-in, the command prints the code to enter there.',
  arguments: [name],
  flags: { workspace },
  settings: ['url', 'apiKey'],
  json: true,
  examples: ['credentials sign-in mail'],
  async run(call) {
    const { flags, terminal, json } = call
    const client = clientOf(call)
    const id = await workspaceOnService(client, flags['workspace'])
    const named = call.arguments[0]!
    const { kind } = await client.get<{ kind: string }>(pathOf`/api/workspaces/${id}/credentials/${named}`)
    const started =
      kind === 'oauth2_device'
        ? await client.post<StartedDevice>(pathOf`/api/workspaces/${id}/credentials/${named}/sign-in`, {})
        : { url: `${client.url}${pathOf`/w/${id}/settings/credentials?sign-in=${named}`}` }
    if (json) terminal.print(JSON.stringify(started))
    else if ('url' in started) terminal.print(started.url)
    else terminal.print(`Open ${started.verificationUrl} and enter the code ${started.userCode}.`)
    return 0
  },
}

type StartedDevice = { userCode: string; verificationUrl: string; expiresAt: string }

export const credentials: CommandGroup = {
  summary: 'credentials of a workspace for other services',
  commands: { list, show, set, delete: remove, test, 'sign-in': signIn },
}

/** Works on the store itself, so a command needs no service. */
async function withCredentials<Result>(
  { config, flags }: Call,
  work: (credentials: Credentials, workspaceId: string, ownerId: string) => Promise<Result>,
): Promise<Result> {
  return await withInstallation(config, async (store) => {
    const workspaceId = await workspaceOf(store, flags['workspace'])
    const { ownerId = '' } = (await store.listWorkspaces(null)).find(({ id }) => id === workspaceId) ?? {}
    const box = await boxOf(store, config)
    try {
      return await work(new Credentials({ store, box, hide: () => {}, clock: systemClock }), workspaceId, ownerId)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'NOT_FOUND') throw new CommandError(error.message, listAll)
      throw new CommandError((error.details ?? [error]).map(({ message }) => message).join('\n'))
    }
  })
}

async function editOf({ flags, lists, terminal }: Call): Promise<CredentialEdit> {
  const { kind, hosts } = flags
  const fields = Object.fromEntries((lists['field'] ?? []).map(pairOf).map(([name, value]) => [name, fieldOf(value)]))
  const secrets: Record<string, string> = {}
  const asked: string[] = []
  for (const named of lists['secret'] ?? []) {
    const [secret, file] = named.includes('=') ? pairOf(named) : [named, undefined]
    if (file === undefined) asked.push(secret)
    else secrets[secret] = file
  }
  const values = await valuesOf(asked, terminal)
  for (const [index, secret] of asked.entries()) secrets[secret] = values[index]!
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(hosts === undefined ? {} : { hosts: hosts.split(',').map((host) => host.trim()) }),
    ...(lists['field'] === undefined ? {} : { fields }),
    ...(Object.keys(secrets).length === 0 ? {} : { secrets }),
  }
}

/** The values of the secrets without a file. */
async function valuesOf(names: readonly string[], terminal: Call['terminal']): Promise<string[]> {
  const values: string[] = []
  while (values.length < names.length) {
    const text = await terminal.secret(`Value of ${names[values.length]}: `)
    if (text === undefined) throw new CommandError('No value was given. Nothing was changed.')
    // A pipe is read as a whole.
    values.push(...(names.length === 1 ? [text] : text.split(/\r?\n/)))
    if (text === '' || values.includes(''))
      throw new CommandError(`A value is missing: standard input needs ${names.length} lines.`)
  }
  if (values.length > names.length) {
    throw new CommandError(`Standard input has ${values.length} lines, but there are ${names.length} secrets.`)
  }
  return values
}

/** Some fields are objects of texts: they are given as JSON. */
function fieldOf(value: string): unknown {
  // `{{NAME}}` is not JSON.
  if (!value.startsWith('{')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** `NAME=VALUE` or `NAME=@FILE`. */
function pairOf(text: string): [name: string, value: string] {
  const equals = text.indexOf('=')
  if (equals < 1) throw new UsageError(`"${text}" has no value: write NAME=VALUE or NAME=@FILE.`)
  const value = text.slice(equals + 1)
  if (!value.startsWith('@')) return [text.slice(0, equals), value]
  try {
    return [text.slice(0, equals), readFileSync(value.slice(1), 'utf8')]
  } catch (error) {
    throw new CommandError(`The file ${value.slice(1)} cannot be read: ${messageOf(error)}`)
  }
}

function newOf(name: string, { kind, hosts, fields = {}, secrets = {} }: CredentialEdit) {
  const hasDefault = kind !== undefined && (hasOwnHost(kind) || credentialKind(kind)?.hostsFrom !== undefined)
  if (kind === undefined || (hosts === undefined && !hasDefault)) {
    throw new UsageError(`There is no credential ${name} yet: a new one needs --kind and --hosts.`)
  }
  return { name, kind, hosts: hosts ?? [], fields, secrets: secrets as Record<string, string> }
}

function shownOf({ row, secrets }: ListedCredential) {
  const { name, kind, hosts, fields, state, problem, lastUsedAt, updatedAt } = row
  const used = lastUsedAt === null ? null : new Date(lastUsedAt).toISOString()
  const updated = new Date(updatedAt).toISOString()
  return { name, kind, hosts, fields, secrets, state, problem, lastUsedAt: used, updatedAt: updated }
}
