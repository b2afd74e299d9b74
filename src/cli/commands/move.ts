import { sealHeadBytes } from '../../accounts/secret-box.ts'
import { registry } from '../../blocks/registry.ts'
import { messageOf } from '../../domain/errors.ts'
import { sealHeadsInDocuments } from '../../engine/document-secrets.ts'
import { type MoveBegin, type MoveResult, moveInstallation } from '../../store/move/move.ts'
import type { MoveSource, MoveTarget } from '../../store/move/sides.ts'
import { type Call, type Command, CommandError, UsageError } from '../command.ts'
import { copyFiles, type FilesPlan, planFiles } from '../move/files.ts'
import { assertDecrypts, moveKeyFile } from '../move/keys.ts'
import { nextSteps } from '../move/next-steps.ts'
import { progressLines } from '../move/progress.ts'
import { isSame, type Side, sideOf, withSource, withTarget } from '../move/sides.ts'
import { count } from '../support/size.ts'

export const move: Command = {
  summary: 'moves the installation between a data folder (SQLite) and a PostgreSQL database',
  details: [
    'It copies everything: accounts, keys, secrets, workflows with all versions, the log, pending webhook deliveries,',
    'waiting runs, chats and usage. IDs, positions in the log and numbers of versions stay the same. At the end it',
    'compares all rows of both sides.',
    '',
    'Stop the service first. The target must not hold an installation. The source is never changed. If the command is',
    'interrupted, run it again: it continues. Until it has ended, no service starts on the target.',
    '',
    'With PostgreSQL, MILLRACE_SECRET_KEY has to hold the key of stored secrets; the command says how. Files of runs are',
    'copied from one data folder to the other. A service on PostgreSQL keeps them in the folder of --data, or in a bucket.',
  ].join('\n'),
  flags: {
    from: { value: 'PATH|URL', description: 'the data folder, or the postgres:// address, to move from' },
    to: { value: 'PATH|URL', description: 'the data folder, or the postgres:// address, to move to' },
  },
  settings: ['data', 'secretKey', 's3Bucket'],
  json: true,
  examples: [
    'move --from ./data --to postgres://millrace@db.example.org/millrace',
    'move --from postgres://millrace@db.example.org/millrace --to ./data-again --json',
  ],
  async run(call) {
    const from = sideOf('--from', call.flags['from'])
    const to = sideOf('--to', call.flags['to'])
    if (isSame(from, to)) throw new UsageError('--from and --to name the same place.')
    const { terminal, json } = call
    const startedAt = performance.now()
    const { result, files } = await new Move(call, from, to).run()
    const { tables, different } = result
    if (json) terminal.print(JSON.stringify({ tables, ok: different.length === 0 }))
    if (different.length > 0) throw differencesError(result, from, to)
    const rows = Object.values(tables).reduce((sum, each) => sum + each, 0)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    terminal.say(`${count(rows, 'row')} moved from ${from.name} to ${to.name} and compared, in ${seconds} s.`)
    for (const line of nextSteps({ from, to, files, config: call.config })) terminal.say(line)
    return 0
  },
}

class Move {
  readonly #call: Call
  readonly #from: Side
  readonly #to: Side
  #hasBegun = false

  constructor(call: Call, from: Side, to: Side) {
    this.#call = call
    this.#from = from
    this.#to = to
  }

  async run(): Promise<{ result: MoveResult; files: FilesPlan | undefined }> {
    const { config, settings } = this.#call
    const sides = { from: this.#from, to: this.#to }
    try {
      const files = await planFiles({ ...sides, config, hasChosenData: settings.sources.data !== 'default' })
      const result = await withSource(sides.from, async (source) => {
        assertDecrypts(sides, { secretKey: config.secretKey, heads: await headsOf(source) })
        return await withTarget(sides.to, (target) => this.#move(source, target, files))
      })
      return { result, files }
    } catch (error) {
      if (!this.#hasBegun) throw error
      throw new CommandError(messageOf(error), 'Run the same command again: it continues.', error)
    }
  }

  #move(source: MoveSource, target: MoveTarget, files: FilesPlan | undefined): Promise<MoveResult> {
    const { terminal } = this.#call
    return moveInstallation({
      source,
      target,
      prepare: async (begun) => {
        this.#hasBegun = true
        if (begun !== 'first') terminal.say(beginTexts[begun])
        await moveKeyFile({ from: this.#from, to: this.#to })
        if (files?.to === undefined) return
        const copied = await copyFiles(files.from, files.to)
        terminal.say(`${count(copied, 'file')} of runs copied from ${files.from} to ${files.to}.`)
      },
      onProgress: progressLines((line) => terminal.say(line)),
    })
  }
}

const beginTexts: Readonly<Record<Exclude<MoveBegin, 'first'>, string>> = {
  continued: 'An earlier call was interrupted. The move continues.',
  'source changed': 'The source has changed since the move was interrupted. The move begins again.',
  'rows differed': 'The rows of an earlier call differed. The move begins again.',
}

async function headsOf(source: MoveSource): Promise<Uint8Array[]> {
  const { heads, documents } = await source.sealed(sealHeadBytes)
  return [...heads, ...sealHeadsInDocuments(documents, registry, sealHeadBytes)]
}

function differencesError({ different }: MoveResult, from: Side, to: Side): CommandError {
  const texts = different.map(({ table, source, target }) =>
    source.rows === target.rows
      ? `${table} (${count(source.rows, 'row')} on both sides, with different contents)`
      : `${table} (${count(source.rows, 'row')} in ${from.name}, ${target.rows} in ${to.name})`,
  )
  return new CommandError(
    `The comparison found differences in ${texts.join(', ')}. The target is not complete, and no service starts on it.`,
    'Run the same command again: it begins again.',
  )
}
