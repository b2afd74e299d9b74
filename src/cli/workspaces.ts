import type { Command, CommandGroup } from './command.ts'
import { table } from './help.ts'
import { ownerOf, withInstallation } from './installation.ts'

const list: Command = {
  summary: 'prints the workspaces of an account',
  flags: { user: { value: 'ID', description: 'the account; the owner when absent' } },
  settings: ['data'],
  json: true,
  examples: ['workspaces list', 'workspaces list --json'],
  async run({ config, terminal, json, flags }) {
    const rows = await withInstallation(config, async (store) => {
      return store.listWorkspaces(flags['user'] ?? (await ownerOf(store)))
    })
    const shown = rows.map(({ id, name, role, createdAt }) => {
      return { id, name, role, createdAt: new Date(createdAt).toISOString() }
    })
    if (json) terminal.print(JSON.stringify(shown, null, 2))
    else terminal.print(table(shown.map(({ id, name, role }) => [id, `${name}  (${role})`] as const)).join('\n'))
    return 0
  },
}

export const workspaces: CommandGroup = { summary: 'workspaces of an installation', commands: { list } }
