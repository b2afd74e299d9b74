import { openSecretBox, type SecretBox } from '../../accounts/secret-box.ts'
import { sealHeadsOf } from '../../assembly/seal-heads.ts'
import { keyOfServer, serverOf } from '../../store/lock.ts'
import { type Command, CommandError } from '../command.ts'
import { type EncryptedAgain, encryptAgain } from '../support/encrypt-again.ts'
import { withInstallation } from '../support/installation.ts'

/** How often a long rotation reports how far it is. */
const progressMs = 5_000

export const rotate: Command = {
  summary: 'encrypts everything that an older key encrypted with the first key, so that the older key can be removed',
  details: [
    'First put the new key in front of the old one, in MILLRACE_SECRET_KEY (separated by a comma) or as the first line',
    'of the key file, and restart the service. This command works while the service runs. If it is interrupted, run it',
    'again: it continues. millrace doctor says whether anything still needs an older key.',
  ].join('\n'),
  settings: ['data', 'secretKey'],
  json: true,
  examples: ['env rotate', 'env rotate --json'],
  async run({ config, terminal, json }) {
    let saidAt = performance.now()
    const done = await withInstallation(config, async (store) => {
      const { data: directory, secretKey } = config
      const box = await openSecretBox({ directory, secretKey, sealHeads: () => sealHeadsOf(store) })
      return await encryptAgain({
        store,
        box,
        onFirst: () => assertServiceKnows(directory, box),
        onProgress: (count) => {
          if (performance.now() - saidAt < progressMs) return
          saidAt = performance.now()
          terminal.say(`${count} values were encrypted again so far.`)
        },
      })
    })
    const result = resultOf(done)
    if (json) terminal.print(JSON.stringify(result))
    else {
      terminal.print(
        `${result.variables} variables, ${result.webhookSecrets} webhook secrets, ${result.documents} workflows and ` +
          `versions, ${result.jobs} values of asynchronous runs, ${result.outputs} outputs, ${result.pins} pinned ` +
          `outputs and ${result.conversations} exchanges of chats were encrypted again.`,
      )
    }
    if (result.unreadable === 0) return 0
    throw new CommandError(
      `${result.unreadable} values cannot be decrypted with any key. They were not changed.`,
      'If their key is known, put it back and run this command again. If it is lost: millrace env discard',
    )
  },
}

function resultOf(done: EncryptedAgain) {
  return {
    variables: done.variable,
    webhookSecrets: done.webhookSecret + done.previousWebhookSecret,
    documents: done.documents,
    jobs: done.jobInput + done.jobStep,
    outputs: done.jobOutput,
    pins: done.pin,
    conversations: done.chatTurn,
    unreadable: done.unreadable,
  }
}

/** A service that started with other keys could not read what is encrypted now, or would go on with an older key. */
function assertServiceKnows(directory: string, box: SecretBox): void {
  const who = serverOf(directory)
  if (who === undefined || keyOfServer(directory) === box.currentHead?.toHex()) return
  throw new CommandError(
    `The service that uses the folder (${who}) does not encrypt with the first key. Nothing was changed.`,
    'Start it again with the same MILLRACE_SECRET_KEY and key file as this command, then repeat the command.',
  )
}
