import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { type Command, CommandError } from '../command.ts'
import { createInstallation, renewInstallation } from '../support/installation.ts'

export const init: Command = {
  summary: 'creates the data folder with an owner, a workspace, and a key that is shown once',
  details: 'If an installation exists, it changes nothing and exits with 1.',
  settings: ['data'],
  json: true,
  examples: ['init', 'init --data /var/lib/millrace --json'],
  async run({ config, terminal, json }) {
    const store = await openSqliteStore({ directory: config.data, sync: config.sync, mode: 'direct' })
    try {
      const made = (await createInstallation(store, Date.now())) ?? (await renewInstallation(store, Date.now()))
      if (!made) throw new CommandError(`${config.data} already contains an installation. Nothing was changed.`)
      const { userId, workspaceId, apiKey } = made
      if (json) terminal.print(JSON.stringify({ userId, workspaceId, apiKey }))
      else {
        terminal.say(`${config.data} is ready. Keep the key: it is shown only this once.`)
        terminal.print(`user       ${userId}\nworkspace  ${workspaceId}\nAPI key    ${apiKey}`)
      }
      await store.markInstallationSeen()
      return 0
    } finally {
      await store.close()
    }
  },
}
