import type { SharedRole } from '../../domain/account/role.ts'
import { newId } from '../../domain/ids.ts'
import type { WorkspaceRow } from '../../store/account-store.ts'
import type { Store } from '../../store/store.ts'
import { type Command, CommandError, type CommandGroup, UsageError } from '../command.ts'
import { accountOf, withInstallation } from '../installation/installation.ts'
import { printList } from '../support/print-list.ts'

const create: Command = {
  summary: 'creates a workspace and prints its ID',
  flags: {
    name: { value: 'NAME', description: 'the name of the workspace' },
    user: { value: 'USER', description: "its owner, by id or e-mail; the installation's owner when absent" },
  },
  settings: ['data', 'store'],
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
    if (!json) terminal.say(`The workspace "${name}" of ${owner.email}. Personal keys work in it within 5 seconds.`)
    terminal.print(json ? JSON.stringify({ id, name, ownerId: owner.id }) : id)
    return 0
  },
}

const list: Command = {
  summary: 'prints every workspace, its owner, and its members',
  flags: { user: { value: 'USER', description: 'only workspaces of this account, by ID or e-mail' } },
  settings: ['data', 'store'],
  json: true,
  examples: ['workspaces list', 'workspaces list --user ada@example.com --json'],
  async run(call) {
    const { config, flags } = call
    const shown = await withInstallation(config, async (store) => {
      const userId = flags['user'] === undefined ? null : (await accountOf(store, flags['user'])).id
      const rows = await store.listWorkspaces(userId)
      return await Promise.all(rows.map((row) => withMembers(store, row)))
    })
    printList(call, shown, { line: ({ id, name, members }) => [id, `${name}  (${textOf(members)})`] })
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
  summary: "shares a workspace with another account, or changes that account's role",
  details: [
    'A viewer reads workflows and logs. An editor also changes, deploys and runs workflows. All runs count against the',
    "limits of the workspace's owner. The account's personal keys work in the workspace within 5 seconds.",
  ].join('\n'),
  arguments: [
    { name: 'ID', description: 'the ID of the workspace, as workspaces list prints it' },
    { name: 'USER', description: 'the account, by ID or e-mail' },
  ],
  flags: { role: { value: 'ROLE', description: 'editor or viewer' } },
  settings: ['data', 'store'],
  examples: ['workspaces share 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 ada@example.com --role editor'],
  async run({ config, terminal, flags, arguments: [id = '', named = ''] }) {
    const role = roleOf(flags['role'])
    const { email } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      await store.setMember(id, account.id, role)
      return account
    })
    terminal.say(`${email} is now ${role} of the workspace.`)
    return 0
  },
}

function roleOf(text: string | undefined): SharedRole {
  if (text === 'editor' || text === 'viewer') return text
  throw new UsageError('A role is required: --role editor or --role viewer.')
}

const unshare: Command = {
  summary: 'stops sharing a workspace with an account; takes effect within 5 seconds',
  arguments: [
    { name: 'ID', description: 'the ID of the workspace, as workspaces list prints it' },
    { name: 'USER', description: 'the account, by ID or e-mail' },
  ],
  settings: ['data', 'store'],
  examples: ['workspaces unshare 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 ada@example.com'],
  async run({ config, terminal, arguments: [id = '', named = ''] }) {
    const { email, removed } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      return { email: account.email, removed: await store.removeMember(id, account.id) }
    })
    if (!removed) {
      throw new CommandError(
        `${email} is not a member of the workspace.`,
        'List all workspaces: millrace workspaces list',
      )
    }
    terminal.say(`${email} is no longer a member of the workspace.`)
    return 0
  },
}

export const workspaces: CommandGroup = {
  summary: 'workspaces of an installation and their members',
  commands: { create, list, share, unshare },
}
