import { openSecretBox, type SecretBox } from '../../accounts/secret-box.ts'
import { sealHeadsOf } from '../../assembly/seal-heads.ts'
import { keyOfServer, serverOf } from '../../store/lock.ts'
import type { Store } from '../../store/store.ts'
import { type Command, CommandError } from '../command.ts'
import { withInstallation } from '../installation/installation.ts'
import { usesPostgres } from '../installation/open-store.ts'
import { type EncryptedAgain, encryptAgain } from '../support/encrypt-again.ts'
import { count } from '../support/size.ts'

/** How often a long rotation reports how far it is. */
const progressMs = 5_000

export const rotate: Command = {
  summary: 'encrypts everything that an older key encrypted with the first key, so that the older key can be removed',
  details: [
    'First put the new key in front of the old one, in MILLRACE_SECRET_KEY (separated by a comma) or as the first line',
    'of the key file, and restart the service. This command works while the service runs. If it is interrupted, run it',
    'again: it continues. millrace doctor says whether anything still needs an older key.',
  ].join('\n'),
  settings: ['data', 'store', 'secretKey'],
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
        onFirst: () => (usesPostgres(config) ? assertProcessesKnow(store, box) : assertServiceKnows(directory, box)),
        onProgress: (done) => {
          if (performance.now() - saidAt < progressMs) return
          saidAt = performance.now()
          terminal.say(`${done} values were encrypted again so far.`)
        },
      })
    })
    const result = resultOf(done)
    if (json) terminal.print(JSON.stringify(result))
    else terminal.print(textOf(result))
    if (result.unreadable === 0) return 0
    throw new CommandError(
      `No known key decrypts ${count(result.unreadable, 'value')}. Nothing was changed there.`,
      'If their key is known, put it back and run this command again. If it is lost: millrace env discard',
    )
  },
}

function resultOf(done: EncryptedAgain) {
  return {
    variables: done.variable,
    webhookSecrets: done.webhookSecret + done.previousWebhookSecret + done.alertSecret,
    credentials: done.credential + done.credentialToken,
    documents: done.documents,
    jobs: done.jobInput + done.jobStep + done.pauseContent + done.pauseAnswer,
    outputs: done.jobOutput + done.heldResponse,
    pins: done.pin,
    conversations: done.chatTurn,
    unreadable: done.unreadable,
  }
}

function textOf(result: ReturnType<typeof resultOf>): string {
  const parts = [
    [result.variables, 'variable'],
    [result.webhookSecrets, 'webhook secret'],
    [result.credentials, 'value of a credential', 'values of credentials'],
    [result.documents, 'draft or version of a workflow', 'drafts and versions of workflows'],
    [result.jobs, 'value of an asynchronous run', 'values of asynchronous runs'],
    [result.outputs, 'output'],
    [result.pins, 'pinned output'],
    [result.conversations, 'exchange of a chat', 'exchanges of chats'],
  ] as const
  const changed = parts.flatMap(([number, thing, things]) => (number > 0 ? [count(number, thing, things)] : []))
  if (changed.length === 0) return 'Nothing had to be encrypted again.'
  return `Encrypted again with the first key: ${changed.join(', ')}.`
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

/** The same for processes on PostgreSQL. */
async function assertProcessesKnow(store: Store, box: SecretBox): Promise<void> {
  const current = box.currentHead?.toHex()
  const other = (await store.listProcesses()).find(({ isGone, keyHead }) => !isGone && keyHead !== current)
  if (!other) return
  throw new CommandError(
    `Process ${other.pid} on ${other.host} does not encrypt with the first key. Nothing was changed.`,
    'Start it again with the same MILLRACE_SECRET_KEY as this command, then repeat the command.',
  )
}
