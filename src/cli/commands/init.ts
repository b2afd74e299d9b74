import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { type Command, CommandError } from '../command.ts'
import { createInstallation, renewInstallation } from '../support/installation.ts'

export const init: Command = {
  summary: 'creates the data folder with an owner, a workspace and an API key, and prints the key once',
  details: 'If the data folder already contains an installation, the command changes nothing and exits with 1.',
  settings: ['data'],
  json: true,
  examples: ['init', 'init --data /var/lib/millrace --json'],
  async run({ config, terminal, json }) {
    const store = await openSqliteStore({ directory: config.data, sync: config.sync, mode: 'direct' })
    try {
      const made = (await createInstallation(store, Date.now())) ?? (await renewInstallation(store, Date.now()))
      if (!made) {
        const message = `The data folder ${config.data} already contains an installation. Nothing was changed.`
        throw new CommandError(message, 'Use --data for another folder, or start the existing one: millrace serve')
      }
      const { userId, workspaceId, apiKey } = made
      if (json) terminal.print(JSON.stringify({ userId, workspaceId, apiKey }))
      else {
        terminal.say(`The data folder ${config.data} is ready. Store the API key now: it is not shown again.`)
        terminal.print(`user       ${userId}\nworkspace  ${workspaceId}\nAPI key    ${apiKey}`)
      }
      await store.markInstallationSeen()
      return 0
    } finally {
      await store.close()
    }
  },
}
