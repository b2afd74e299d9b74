import { generateKey } from '../../accounts/keys.ts'
import { newId } from '../../domain/ids.ts'
import type { KeyRow } from '../../store/account-store.ts'
import { type Command, CommandError, type CommandGroup, UsageError } from '../command.ts'
import { accountOf, withInstallation } from '../installation/installation.ts'
import { printList } from '../support/print-list.ts'

const create: Command = {
  summary: 'creates a key and prints it once',
  details:
    'Without --workspace, the key works in every workspace of its account. A running service accepts it at once.',
  flags: {
    name: { value: 'NAME', description: 'the purpose of the key' },
    workspace: { value: 'ID', description: 'the only workspace in which it works' },
    user: { value: 'USER', description: 'the account, by ID or e-mail; by default the owner' },
    expires: { value: 'DATE', description: 'when it expires: 2030-01-31 or 2030-01-31T12:00:00Z' },
  },
  settings: ['data', 'store'],
  json: true,
  examples: ['keys create --name ci', 'keys create --name partner --workspace ID --expires 2030-01-31 --json'],
  async run({ config, terminal, json, flags }) {
    const name = flags['name']
    if (name === undefined || name.trim() === '') throw new UsageError('A key needs a name: --name NAME.')
    const now = Date.now()
    const expiresAt = flags['expires'] === undefined ? null : instantOf(flags['expires'], now)
    const key = generateKey()
    const id = newId()
    await withInstallation(config, async (store) =>
      store.createKey({
        id,
        hash: key.hash,
        lastFour: key.lastFour,
        name,
        userId: (await accountOf(store, flags['user'])).id,
        workspaceId: flags['workspace'] ?? null,
        createdAt: now,
        expiresAt,
      }),
    )
    if (!json) terminal.say(`The key "${name}" (${id}) is created. Store it now: it is not shown again.`)
    terminal.print(json ? JSON.stringify({ id, apiKey: key.text }) : key.text)
    return 0
  },
}

/** Epoch milliseconds of a date (its first instant in UTC) or of a time (in UTC if it has no zone). */
function instantOf(text: string, now: number): number {
  const [, date, time = 'T00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(Z|[+-]\d{2}:\d{2})?$/.exec(text) ?? []
  const at = Date.parse(`${date}${time}${zone}`)
  // Date.parse accepts 31 February as a day in March.
  const exists = date !== undefined && new Date(`${date}T00:00Z`).toJSON()?.startsWith(date)
  if (!exists || Number.isNaN(at))
    throw new UsageError(`--expires is "${text}". Use 2030-01-31 or 2030-01-31T12:00:00Z.`)
  if (at <= now) throw new UsageError(`--expires is "${text}", which is in the past.`)
  return at
}

const list: Command = {
  summary: 'prints every key: its owner, its name, its last four characters, whether it works, and its last use',
  details: 'The last use is updated at most once a minute.',
  settings: ['data', 'store'],
  json: true,
  examples: ['keys list', 'keys list --json'],
  async run(call) {
    const { config } = call
    const [keys, users] = await withInstallation(config, (store) => Promise.all([store.listKeys(), store.listUsers()]))
    const owners = new Map(users.map(({ id, email }) => [id, email]))
    const now = Date.now()
    printList(call, keys, {
      data: (key) => rowOf(key, now),
      line: (key) => [key.id, textOf(key, owners.get(key.userId), now)],
    })
    return 0
  },
}

type KeyState = 'valid' | 'expired' | 'revoked'

function stateOf({ revokedAt, expiresAt }: KeyRow, now: number): KeyState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid'
}

function rowOf(key: KeyRow, now: number) {
  const { id, name, lastFour, userId, workspaceId } = key
  return {
    id,
    name,
    lastFour,
    state: stateOf(key, now),
    userId,
    workspaceId,
    createdAt: timeOf(key.createdAt),
    expiresAt: timeOf(key.expiresAt),
    revokedAt: timeOf(key.revokedAt),
    lastUsedAt: timeOf(key.lastUsedAt),
  }
}

function textOf(key: KeyRow, owner: string | undefined, now: number): string {
  const until = key.expiresAt === null ? '' : `, until ${timeOf(key.expiresAt)}`
  const where = key.workspaceId === null ? 'every workspace' : `workspace ${key.workspaceId}`
  const used = key.lastUsedAt === null ? 'never used' : `last used ${timeOf(key.lastUsedAt)}`
  const whose = owner === undefined ? '' : `of ${owner}, `
  return `…${key.lastFour}  ${stateOf(key, now).padEnd(7)}  ${key.name}  (${whose}${where}${until}, ${used})`
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

const revoke: Command = {
  summary: 'revokes a key permanently; takes effect within 5 seconds',
  arguments: [{ name: 'ID', description: 'the ID of the key, as keys list prints it' }],
  settings: ['data', 'store'],
  examples: ['keys revoke 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21'],
  async run({ config, terminal, arguments: [id = ''] }) {
    const revoked = await withInstallation(config, (store) => store.revokeKey(id, Date.now()))
    if (!revoked) throw new CommandError(`Unknown or revoked key ${id}.`, 'List all keys: millrace keys list')
    terminal.say('The key is revoked.')
    return 0
  },
}

export const keys: CommandGroup = { summary: 'API keys of an installation', commands: { create, list, revoke } }
