import { Environments } from '../../accounts/environment.ts'
import { SecretBox, sealHeadBytes } from '../../accounts/secret-box.ts'
import { sealHeadsOf } from '../../assembly/seal-heads.ts'
import { registry } from '../../blocks/registry.ts'
import type { Config } from '../../config.ts'
import { variableNameProblem } from '../../domain/account/environment.ts'
import { systemClock } from '../../domain/clock.ts'
import { secretCharsMin } from '../../domain/redaction/secret-forms.ts'
import { replaceSealed } from '../../engine/document-secrets.ts'
import type { Store } from '../../store/store.ts'
import { type Command, CommandError, type CommandGroup, UsageError } from '../command.ts'
import { withInstallation } from '../installation/installation.ts'
import { boxOf, workspaceOf } from '../support/opened-store.ts'
import { printList } from '../support/print-list.ts'
import { rotate } from './env-rotate.ts'

const workspaceFlag = { value: 'ID', description: 'the workspace; optional if there is only one' }
const name = { name: 'NAME', description: 'the name that workflows use in {{NAME}}: letters, digits and _' }

const set: Command = {
  summary: 'sets a variable that workflows read as {{NAME}}; takes effect within 5 seconds',
  details: [
    'Without VALUE, the command asks for it without showing it, or reads it from a pipe. All users of a machine can',
    'see command lines. Values are stored encrypted and never printed. In logs, {{NAME}} replaces values of six',
    'characters or more; with --plain, logs may show the value.',
  ].join('\n'),
  arguments: [name, { name: 'VALUE', description: 'its value', optional: true }],
  flags: { workspace: workspaceFlag, plain: { description: 'the value is not secret: logs may show it' } },
  settings: ['data', 'store', 'secretKey'],
  examples: ['env set API_TOKEN < token.txt', 'env set REGION eu-west-1 --plain'],
  async run({ config, terminal, flags, switches, arguments: [name = '', given] }) {
    const problem = variableNameProblem(name)
    if (problem !== undefined) throw new UsageError(problem)
    const plain = switches.has('plain')
    const { isNew, chars } = await withInstallation(config, async (store) => {
      const workspaceId = await workspaceOf(store, flags['workspace'])
      const environments = await environmentsOf(store, config)
      const value = given ?? (await terminal.secret(`Value of ${name}: `))
      if (value === undefined) throw new CommandError('No value was given. Nothing was changed.')
      const { isNew } = await environments.set({ workspaceId, name, value, plain })
      return { isNew, chars: value.length }
    })
    terminal.say(`${name} is ${isNew ? 'set' : 'changed'}.`)
    if (!plain && chars < secretCharsMin) {
      terminal.say(`The value has fewer than ${secretCharsMin} characters, too few for redaction: logs may show it.`)
    }
    return 0
  },
}

const list: Command = {
  summary: 'prints the names of the variables of a workspace, never their values',
  flags: { workspace: workspaceFlag },
  settings: ['data', 'store'],
  json: true,
  examples: ['env list', 'env list --workspace 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 --json'],
  async run(call) {
    const { config, flags } = call
    const rows = await withInstallation(config, async (store) => {
      return await store.listEnvironment(await workspaceOf(store, flags['workspace']))
    })
    printList(call, rows, {
      data: ({ name, plain, updatedAt }) => ({ name, plain, updatedAt: new Date(updatedAt).toISOString() }),
      line: ({ name, plain, updatedAt }) => [
        name,
        `${plain ? 'plain ' : 'secret'}  ${new Date(updatedAt).toISOString()}`,
      ],
      none: 'No variable is set.',
    })
    return 0
  },
}

const unset: Command = {
  summary: 'removes a variable; runs that read it fail within 5 seconds',
  arguments: [name],
  flags: { workspace: workspaceFlag },
  settings: ['data', 'store'],
  examples: ['env unset API_TOKEN'],
  async run({ config, terminal, flags, arguments: [name = ''] }) {
    const found = await withInstallation(config, async (store) => {
      return await store.unsetVariable(await workspaceOf(store, flags['workspace']), name)
    })
    if (!found) throw new CommandError(`Unknown variable ${name}.`, 'List all variables: millrace env list')
    terminal.say(`${name} is gone.`)
    return 0
  },
}

const discard: Command = {
  summary: 'after a key is lost: removes everything that cannot be decrypted, so that the service can start',
  details: [
    'Removes from every workspace all data that neither MILLRACE_SECRET_KEY nor the key file can decrypt: values',
    'of variables, webhook secrets (nothing is delivered until they are set again), secrets written in workflows (the',
    'editor shows them as empty), pinned outputs, conversations of chats, asynchronous runs that have not ended, and',
    'outputs of ended ones. Restore the key instead if you can.',
  ].join('\n'),
  settings: ['data', 'store', 'secretKey'],
  json: true,
  examples: ['env discard', 'env discard --json'],
  async run({ config, terminal, json }) {
    const gone = { variables: 0, jobs: 0, outputs: 0, webhookSecrets: 0, credentials: 0, documentSecrets: 0 }
    await withInstallation(config, async (store) => {
      const heads = await sealHeadsOf(store)
      const box = new SecretBox([], { directory: config.data, secretKey: config.secretKey, heads })
      for (;;) {
        const lost = (await store.sealHeads(sealHeadBytes)).filter((head) => !box.knows(head))
        if (lost.length === 0) break
        const { variables, jobs, outputs, webhookSecrets, credentials } = await store.discardSealed(lost)
        gone.variables += variables
        gone.jobs += jobs
        gone.outputs += outputs
        gone.webhookSecrets += webhookSecrets
        gone.credentials += credentials
      }
      gone.documentSecrets = await discardInDocuments(store, box)
    })
    if (json) terminal.print(JSON.stringify(gone))
    else {
      terminal.print(
        `${gone.variables} variables, ${gone.webhookSecrets} webhook secrets, the secrets of ${gone.credentials} ` +
          `credentials, ${gone.documentSecrets} secrets in workflows, ${gone.jobs} asynchronous runs and ` +
          `${gone.outputs} outputs were removed.`,
      )
    }
    return 0
  },
}

/** Empties the secrets that authors wrote in documents and no key can decrypt. Returns how many there were. */
async function discardInDocuments(store: Store, box: SecretBox): Promise<number> {
  let count = 0
  for (const place of await store.listSealedDocuments()) {
    for (;;) {
      const before = await store.readDocument(place)
      if (before === undefined) break
      let lost = 0
      const after = replaceSealed(before, registry, (sealed) => {
        if (box.knows(sealed.subarray(0, sealHeadBytes))) return sealed
        lost += 1
        return null
      })
      if (after !== before && !(await store.replaceDocument(place, before, after))) continue
      count += lost
      break
    }
  }
  return count
}

export const env: CommandGroup = {
  summary: 'environment variables of a workspace',
  commands: { set, list, unset, rotate, discard },
}

async function environmentsOf(store: Store, config: Config): Promise<Environments> {
  const box = await boxOf(store, config)
  return new Environments({ store, box, clock: systemClock })
}
