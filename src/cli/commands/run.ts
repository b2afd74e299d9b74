import { statSync } from 'node:fs'
import type { OpenCredential } from '../../domain/credential/open-credential.ts'
import { credentialProblems, type WrittenCredential } from '../../domain/credential/validate.ts'
import { redactText } from '../../domain/redaction/redactor.ts'
import { isObject } from '../../domain/run/input.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import { readDocument } from '../../domain/workflow/document.ts'
import { type StartKind, startKinds } from '../../domain/workflow/workflow.ts'
import type { JobResponse } from '../../http/responses/run-schemas.ts'
import { type Call, type Command, CommandError, type ExitCode, UsageError } from '../command.ts'
import { Client, pathOf } from '../support/client.ts'
import { printableJson } from '../support/control-characters.ts'
import { clientOf, findWorkflow } from '../support/service.ts'
import type { Terminal } from '../support/terminal.ts'
import { connectorFiles, parsed, readText, readWorkflowFile } from '../support/workflow-files.ts'

export const run: Command = {
  summary: 'runs a workflow and prints its output; exits with 1 if the run failed',
  details: [
    'A file runs on this machine: it needs no service and stores nothing. The run starts at the manual trigger,',
    'else at the API trigger, else at any other, or at the one that --trigger names. {{NAME}} comes from the',
    'environment of this process, and fields without a value use their sample. The meaning of --input depends on the',
    'trigger: the fields; for a webhook the body, or { "body", "headers", "query", "method" }; for a chat the message,',
    'or { "input", "conversationId", "history" }; for a schedule { "dueAt" }, by default now.',
    'An ID or a name runs the deployed workflow on the service.',
    'With --stream, text of language models is printed as it is generated, and the output only if there was none. With',
    '--json as well, that text goes to standard error and the envelope to standard output.',
  ].join('\n'),
  arguments: [{ name: 'FILE|ID', description: 'a workflow document, or the ID or name of a deployed workflow' }],
  flags: {
    input: { value: 'JSON|@FILE', description: 'the input of the run; @- reads standard input' },
    trigger: { value: 'KIND', description: `the trigger where a file's run starts: ${startKinds.join(', ')}` },
    credentials: { value: 'FILE', description: "the credentials that a file's blocks name, as JSON by name" },
    connectors: {
      value: 'FILE',
      description: 'a connector as JSON, besides those of the service; may be repeated',
      many: true,
    },
    stream: { description: 'print text as it is generated' },
    verbose: { description: 'print what each block does, even without a terminal' },
  },
  settings: ['url', 'apiKey', 'outboundAllow', 'sqliteFolders', 'runTimeoutMs', 'modelPrices'],
  json: true,
  examples: [
    'run hello.json',
    'run hello.json --input \'{"name": "Ada"}\'',
    'run hello.json --input @order.json --json',
    'run contacts.json --credentials credentials.json',
    'run on-push.json --trigger webhook --input @push.json',
    'run ask.json --input \'{"question": "Why?"}\' --stream',
    'run 3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21 --input \'{"name": "Ada"}\'',
  ],
  async run(call) {
    const wanted = call.arguments[0]!
    const trigger = triggerOf(call)
    const input = await inputOf(call)
    const found = statSync(wanted, { throwIfNoEntry: false })
    // A workflow on the service may have the same name as a folder.
    const isPath = /[\\/]/.test(wanted)
    if (found && (isPath || !found.isDirectory())) return runFile(call, wanted, { input, trigger })
    if (isPath || wanted.endsWith('.json')) throw new CommandError(`The file ${wanted} does not exist.`)
    if (trigger) throw new UsageError('--trigger is only for files. On the service, a run starts at the API trigger.')
    return runOnService(call, await idOf(call, wanted), input)
  },
}

/** The response of the execute endpoint to a run without a `response` block. */
type Envelope = {
  success: boolean
  executionId: string
  output: unknown
  error?: string
  code?: string
  blockId?: string | null
  blockName?: string | null
  metadata: { duration?: number | null; startTime?: string | null; endTime?: string | null }
}

type Start = { input: unknown; trigger: StartKind | undefined }

async function runFile(call: Call, path: string, start: Start): Promise<ExitCode> {
  const { terminal, config, environment } = call
  const reading = readDocument(readWorkflowFile(path))
  if ('details' in reading) throw new CommandError(reading.details.map(({ message }) => message).join('\n'))
  const { runLocally } = await import('../support/local-run.ts')
  const text = call.switches.has('stream') ? new GeneratedText(call) : undefined
  // Progress lines would make streamed text unreadable.
  const watched = text ? call.switches.has('verbose') : terminal.interactive || call.switches.has('verbose')
  const record = await runLocally({
    document: reading.document,
    ...start,
    credentials: credentialsOf(call),
    connectors: connectorFiles(call),
    config,
    environment,
    progress: watched ? (line) => terminal.say(line) : undefined,
    text: text?.add,
    warn: (text) => terminal.say(text),
  })
  return show(call, envelopeOf(record), text)
}

/** The file has `{ NAME: { kind, hosts, fields, secrets } }`. Values may contain `{{NAME}}`. */
function credentialsOf({ flags }: Call): OpenCredential[] {
  const path = flags['credentials']
  if (path === undefined) return []
  const content = parsed(readText(path), path)
  if (!isObject(content)) throw new CommandError(`${path} must have an object of credentials by name.`)
  return Object.entries(content).map(([name, value]) => {
    const {
      kind = '',
      hosts = [],
      fields = {},
      secrets = {},
    } = isObject(value) ? (value as Partial<WrittenCredential>) : {}
    const written = { name, kind, hosts, fields, secrets }
    const [problem] = credentialProblems(written)
    if (problem) throw new CommandError(`${path}: ${name}${problem.path && `.${problem.path}`}: ${problem.message}`)
    return {
      ...written,
      id: name,
      workspaceId: 'none',
      state: 'untested',
      problem: null,
      updatedAt: 0,
      tokenVersion: 0,
    }
  })
}

/** Shows the text that a run generates. */
class GeneratedText {
  readonly #call: Call
  #last = ''

  constructor(call: Call) {
    this.#call = call
  }

  add = (piece: string): void => {
    const { terminal, json } = this.#call
    this.#last = piece
    terminal.show(piece, json ? 'words' : 'data')
  }

  /** Ends the last line. False when there was no text. */
  end(): boolean {
    if (this.#last === '') return false
    if (!this.#last.endsWith('\n')) this.add('\n')
    return true
  }
}

/** The output is unchanged; the error does not contain the secrets. */
function envelopeOf({ executionId, failure, output, secrets, ...times }: RunRecord): Envelope {
  const { startedAt, endedAt, durationMs } = times
  const metadata = {
    duration: durationMs,
    startTime: new Date(startedAt).toISOString(),
    endTime: new Date(endedAt).toISOString(),
  }
  if (!failure) return { success: true, executionId, output, metadata }
  const { message, code, blockId, blockName } = failure
  const redacted = { error: redactText(message, secrets), blockName: blockName && redactText(blockName, secrets) }
  return { success: false, code, executionId, blockId, ...redacted, output, metadata }
}

/** The ID of a workflow on the service. Text that looks like an ID is used unchecked: the run reports a missing one. */
async function idOf(call: Call, named: string): Promise<string> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(named)) return named
  return (await findWorkflow(clientOf(call), named, undefined)).id
}

async function runOnService(call: Call, id: string, input: unknown): Promise<ExitCode> {
  const { url, apiKey } = call.config
  // No timeout: a run may take any time.
  const client = new Client({ url, apiKey })
  const text = call.switches.has('stream') ? new GeneratedText(call) : undefined
  const path = pathOf`/api/workflows/${id}/execute`
  let done: Done | undefined
  const response = text
    ? await client.stream(path, { ...(isObject(input) ? input : { input }), stream: true }, (data) => {
        if (data === '[DONE]') return
        const message = JSON.parse(data) as Done | { chunk: string }
        if ('chunk' in message) text.add(message.chunk)
        else done = message
      })
    : await client.send('POST', path, input ?? {})
  const executionId = response.headers.get('x-execution-id')
  // No run was started; the response contains the reason.
  if (executionId === null) throw client.refusal('POST', path, response)
  if (done) {
    const { event: _event, ...end } = done
    return show(call, { executionId, ...end }, text)
  }
  const envelope = parseEnvelope(response.text)
  if (envelope?.executionId === executionId) return show(call, envelope, text)
  // A `response` block replaced the envelope, or a stream ended early: ask for the outcome by execution ID.
  const execution = await client.get<JobResponse>(pathOf`/api/workflows/${id}/executions/${executionId}`)
  const { duration, startedAt, completedAt } = execution.metadata
  const metadata = { duration, startTime: startedAt, endTime: completedAt }
  return show(
    call,
    {
      success: execution.status === 'completed',
      executionId,
      output: execution.output ?? null,
      ...(execution.error ? { error: execution.error.message, code: execution.error.code } : {}),
      metadata,
    },
    text,
  )
}

/** The last message of a stream. */
type Done = Omit<Envelope, 'executionId'> & { event: 'done' }

function parseEnvelope(text: string): Envelope | undefined {
  try {
    return JSON.parse(text) as Envelope
  } catch {
    return undefined
  }
}

/** `text`: what the run generated so far, if it was shown. */
function show({ terminal, json }: Call, envelope: Envelope, text: GeneratedText | undefined): ExitCode {
  const { success, output, error, blockName } = envelope
  const streamed = text?.end() ?? false
  if (json) terminal.print(printableJson(envelope))
  else if (success && !streamed) terminal.print(typeof output === 'string' ? output : printableJson(output, 2))
  if (!success) {
    const summary = `The run failed${blockName ? ` in "${blockName}"` : ''}: ${error ?? 'no reason given'}`
    terminal.say(summary)
  }
  return success ? 0 : 1
}

/** The value of `--trigger`, or undefined. */
function triggerOf({ flags }: Call): StartKind | undefined {
  const named = flags['trigger']
  const kind = startKinds.find((each) => each === named)
  if (kind || named === undefined) return kind
  throw new UsageError(`Unknown trigger "${named}". Triggers: ${startKinds.join(', ')}.`, 'More: millrace run --help')
}

/** The value of `--input`, or undefined. */
async function inputOf({ flags, terminal }: Call): Promise<unknown> {
  const given = flags['input']
  if (given === undefined) return undefined
  const [what, text] = given.startsWith('@')
    ? await readInputFile(given.slice(1), terminal)
    : ['The text of --input', given]
  return parsed(text, what)
}

async function readInputFile(path: string, terminal: Terminal): Promise<[what: string, text: string]> {
  if (path === '-') return ['Standard input', await terminal.input()]
  return [path, readText(path)]
}
