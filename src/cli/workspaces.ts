import { newId } from '../domain/ids.ts'
import type { SharedRole, Store, WorkspaceRow } from '../store/store.ts'
import { type Command, CommandError, type CommandGroup, UsageError } from './command.ts'
import { table } from './help.ts'
import { accountOf, withInstallation } from './installation.ts'

const create: Command = {
  summary: 'makes a workspace and prints its id',
  flags: {
    name: { value: 'NAME', description: 'what it is called' },
    user: { value: 'USER', description: "its owner, by id or e-mail; the installation's owner when absent" },
  },
  settings: ['data'],
  json: true,
  examples: ['workspaces create --name Sales', 'workspaces create --name Sales --user ada@example.com --json'],
  async run({ config, terminal, json, flags }) {
    const name = flags['name']?.trim() ?? ''
    if (name === '') throw new UsageError('A workspace needs a name: --name NAME.')
    const id = newId()
    const owner = await withInstallation(config, async (store) => {
      const account = await accountOf(store, flags['user'])
      await store.createWorkspace({ id, name, ownerId: account.id, at: Date.now() })
      return account
    })
    if (!json) terminal.say(`The workspace "${name}" of ${owner.email}. Its personal keys reach it within 5 seconds.`)
    terminal.print(json ? JSON.stringify({ id, name, ownerId: owner.id }) : id)
    return 0
  },
}

const list: Command = {
  summary: 'prints every workspace, its owner, and whom it is shared with',
  flags: { user: { value: 'USER', description: 'only those that this account is a member of; its id or e-mail' } },
  settings: ['data'],
  json: true,
  examples: ['workspaces list', 'workspaces list --user ada@example.com --json'],
  async run({ config, terminal, json, flags }) {
    const shown = await withInstallation(config, async (store) => {
      const userId = flags['user'] === undefined ? null : (await accountOf(store, flags['user'])).id
      const rows = await store.listWorkspaces(userId)
      return await Promise.all(rows.map((row) => withMembers(store, row)))
    })
    if (json) terminal.print(JSON.stringify(shown, null, 2))
    else terminal.print(table(shown.map(({ id, name, members }) => [id, `${name}  (${textOf(members)})`])).join('\n'))
    return 0
  },
}

async function withMembers(store: Store, { id, name, ownerId, createdAt }: WorkspaceRow) {
  return { id, name, ownerId, createdAt: new Date(createdAt).toISOString(), members: await store.listMembers(id) }
}

function textOf(members: readonly { email: string; role: string }[]): string {
  return members.map(({ email, role }) => `${role} ${email}`).join(', ')
}

const share: Command = {
  summary: 'lets another account read a workspace, or work in it; or changes its role there',
  details: [
    'A viewer reads workflows and logs. An editor changes, deploys and runs workflows, too. Runs count against the limits of',
    "the workspace's owner, whoever starts them. Personal keys of the account reach the workspace within 5 seconds.",
  ].join('\n'),
  arguments: [
    { name: 'ID', description: 'the id of the workspace, as workspaces list prints it' },
    { name: 'USER', description: 'the account, by id or e-mail' },
  ],
  flags: { role: { value: 'ROLE', description: 'editor or viewer' } },
  settings: ['data'],
  examples: ['workspaces share 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 ada@example.com --role editor'],
  async run({ config, terminal, flags, arguments: [id = '', named = ''] }) {
    const role = roleOf(flags['role'])
    const { email } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      await store.setMember(id, account.id, role)
      return account
    })
    terminal.say(`${email} is ${role} of the workspace.`)
    return 0
  },
}

function roleOf(text: string | undefined): SharedRole {
  if (text === 'editor' || text === 'viewer') return text
  throw new UsageError('The role must be given: --role editor or --role viewer.')
}

const unshare: Command = {
  summary: 'takes a workspace from an account again; a running service notices within 5 seconds',
  arguments: [
    { name: 'ID', description: 'the id of the workspace, as workspaces list prints it' },
    { name: 'USER', description: 'the account, by id or e-mail' },
  ],
  settings: ['data'],
  examples: ['workspaces unshare 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 ada@example.com'],
  async run({ config, terminal, arguments: [id = '', named = ''] }) {
    const { email, removed } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      return { email: account.email, removed: await store.removeMember(id, account.id) }
    })
    if (!removed) {
      throw new CommandError(`${email} is no member of the workspace.`, 'All of them: millrace workspaces list')
    }
    terminal.say(`${email} is no member of the workspace any more.`)
    return 0
  },
}

export const workspaces: CommandGroup = {
  summary: 'workspaces of an installation, and who works in them',
  commands: { create, list, share, unshare },
}
