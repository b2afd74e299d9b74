import { type Command, CommandError } from '../command.ts'
import { createInstallation, renewInstallation } from '../installation/installation.ts'
import { openStoreForCommand, placeOf, usesPostgres } from '../installation/open-store.ts'

export const init: Command = {
  summary: 'creates the installation with an owner, a workspace and an API key, and prints the key once',
  details: 'If there is already an installation, the command changes nothing and exits with 1.',
  settings: ['data', 'store'],
  json: true,
  examples: ['init', 'init --data /var/lib/millrace --json'],
  async run({ config, terminal, json }) {
    const store = await openStoreForCommand(config)
    const place = usesPostgres(config) ? placeOf(config) : `the data folder ${config.data}`
    const atStart = place[0]!.toUpperCase() + place.slice(1)
    try {
      const made = (await createInstallation(store, Date.now())) ?? (await renewInstallation(store, Date.now()))
      if (!made) {
        const message = `${atStart} already contains an installation. Nothing was changed.`
        throw new CommandError(
          message,
          `Use --${usesPostgres(config) ? 'store for another database' : 'data for another folder'}, or start the existing one: millrace serve`,
        )
      }
      const { userId, workspaceId, apiKey } = made
      if (json) terminal.print(JSON.stringify({ userId, workspaceId, apiKey }))
      else {
        terminal.say(`${atStart} is ready. Store the API key now: it is not shown again.`)
        terminal.print(`user       ${userId}\nworkspace  ${workspaceId}\nAPI key    ${apiKey}`)
      }
      await store.markInstallationSeen()
      return 0
    } finally {
      await store.close()
    }
  },
}
