import { registry } from '../../blocks/registry.ts'
import { type Config, limitsOf, ownProgram } from '../../config.ts'
import { BuiltIn } from '../../connectors/built-in.ts'
import { authorizationOf } from '../../credentials/authorization.ts'
import { secretsOf } from '../../credentials/credentials.ts'
import { DatabaseClients } from '../../databases/databases.ts'
import { systemClock } from '../../domain/clock.ts'
import type { Connector } from '../../domain/connector/connector.ts'
import { filledCredential, type OpenCredential } from '../../domain/credential/open-credential.ts'
import { MemoryEntries } from '../../domain/entry/memory-entries.ts'
import { AppError } from '../../domain/errors.ts'
import { responseBytesMax } from '../../domain/limits.ts'
import { createRedactor, redactText } from '../../domain/redaction/redactor.ts'
import type { FileStore } from '../../domain/run/file.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import type { PriceOf } from '../../domain/run/model-prices.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'
import { finish, type InSlices } from '../../domain/slices.ts'
import type { StartKind, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { compilePlan, type Plan, type PlanNode } from '../../engine/compile/plan.ts'
import { Runner } from '../../engine/run/runner.ts'
import { Formats } from '../../formats/formats.ts'
import { chooseTrigger, manualInput } from '../../http/requests/manual-run.ts'
import { RunEvents } from '../../http/streams/run-events.ts'
import { connectBy } from '../../mail/connect.ts'
import { MailClient } from '../../mail/mail-client.ts'
import { McpServers } from '../../mcp/servers.ts'
import { createLanguageModels } from '../../models/language-models.ts'
import { createOutbound } from '../../outbound/fetch.ts'
import { Sandbox } from '../../sandbox/sandbox.ts'
import { CommandError } from '../command.ts'
import { build } from '../commands/version.ts'
import { allowListOf } from './allow-list.ts'
import { findingText } from './check.ts'
import { localTokens } from './local-tokens.ts'
import { priceTableOf } from './model-settings.ts'
import { progressOf } from './progress.ts'

export type LocalRun = {
  document: WorkflowDocument
  /** JSON data for the trigger; undefined to use only the samples. */
  input: unknown
  /** The kind of trigger to start at; undefined for the manual trigger, or the next best. */
  trigger?: StartKind | undefined
  config: Config
  /** Connectors by ID, besides those that come with the service. */
  connectors?: ReadonlyMap<string, Connector>
  /** The credentials that blocks may name. */
  credentials?: readonly OpenCredential[]
  /** The values of `{{NAME}}`. */
  environment: Readonly<Record<string, string | undefined>>
  /** Receives one line for each step of a block, without the values of `{{NAME}}`. */
  progress: ((line: string) => void) | undefined
  /** Receives text as it is generated, like a streaming caller. */
  text?: ((piece: string) => void) | undefined
  /** Receives findings that do not prevent the run. */
  warn(text: string): void
}

/** Runs a document in this process without a server and without storage. Throws `CommandError` if it cannot run. */
export async function runLocally(request: LocalRun): Promise<RunRecord> {
  const { document, config, progress } = request
  const limits = limitsOf(config)
  const priceOf = priceTableOf(config)
  const plan = planOf(request, priceOf)
  const { entry, input } = startOf(request, plan)
  const values = new Map(given(request.environment, plan.environmentNames))
  const secrets = Array.from(values, ([name, value]) => ({ name, value }))
  const credentials = new Map(request.credentials?.map((each) => [each.name, filled(each, request.environment)]))
  const redactor = createRedactor([...secrets, ...plan.writtenSecrets, ...secretsOf(credentials.values())])
  const reporting = progress && progressOf((line) => progress(redactText(line, redactor)))
  const observer = request.text ? withText(reporting, plan, request.text) : reporting
  const outbound = createOutbound({
    allow: allowListOf(config),
    version: build.version,
    concurrency: { total: config.outboundConcurrency, perOrigin: config.outboundHostConcurrency },
  })
  const tokens = localTokens(outbound.fetch)
  const mail = new MailClient({
    ...{ connect: connectBy(outbound.resolveTcp), tokens, clock: systemClock, used: () => {} },
    acquire: async () => ({ release: () => {} }),
  })
  const mailAccess = { workspaceId: 'none', find: async (name: string) => credentials.get(name) }
  const credentialFor = (name: string) => {
    const credential = credentials.get(name)
    return credential && authorizationOf(credential, { tokens, clock: systemClock, used: () => {} })
  }
  const inSlices: InSlices = async (slices) => finish(slices)
  const mcpServers = new McpServers({
    ...{ clock: systemClock, clientVersion: build.version },
    ownAccess: (target, signal) => ({
      ...{ ...target, open: outbound.open, inSlices, signal },
      authorization: async () => credentialFor(target.credential),
    }),
  })
  const databases = new DatabaseClients({
    credentialOf: async (_, name) => credentials.get(name),
    resolveTcp: outbound.resolveTcp,
    clock: systemClock,
    sqlite: { allowed: config.sqliteFolders, data: config.data, program: ownProgram() },
  })
  const sandbox = new Sandbox()
  const formats = new Formats()
  const builtIn = new BuiltIn()
  const runner = new Runner({
    capabilities: {
      clock: systemClock,
      random: Math.random,
      limits,
      fetch: outbound.fetch,
      credential: async (_, name) => credentialFor(name),
      sendMail: (_, ...sent) => mail.send(mailAccess, ...sent),
      databases,
      connector: async (_, id) => request.connectors?.get(id) ?? (await builtIn.find(id)),
      runProgram: sandbox.run,
      doFormatWork: formats.run,
      inSlices,
      mcp: { open: outbound.open, connect: mcpServers.connect },
      files: nothingStored,
      entries: new MemoryEntries(),
      models: createLanguageModels({ open: outbound.open, clock: systemClock, responseBytesMax }),
      priceOf,
    },
    record: async () => undefined,
    deploymentOf: async () => undefined,
    environmentOf: () => ({ values, redactor }),
  })
  try {
    const trigger = entry.definition.starts ?? 'manual'
    const run = { plan, workflowId: document.id ?? 'file', workspaceId: 'none', version: 0, trigger, entry, input }
    const end = await runner.execute({ ...run, ...(observer ? { observer } : {}) })
    return end.record
  } finally {
    mail.stop()
    await mcpServers.stop()
    databases.stop()
    outbound.stop()
    await sandbox.stop()
    await formats.stop()
  }
}

function filled(credential: OpenCredential, environment: LocalRun['environment']): OpenCredential {
  return filledCredential(credential, (name) => {
    const value = environment[name]
    if (value !== undefined) return value
    throw new CommandError(`The credential "${credential.name}" needs {{${name}}}: set ${name} in the environment.`)
  })
}

/** The trigger and the input of the run. */
function startOf({ trigger: wanted, input }: LocalRun, plan: Plan): { entry: PlanNode; input: TriggerInput } {
  try {
    const trigger = chooseTrigger(plan, wanted, undefined)
    if (!trigger) throw new CommandError('The workflow has no enabled trigger. Add one.')
    return { entry: trigger.node, input: manualInput(trigger, input, systemClock.now()) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const lines = error.details?.map(({ message }) => message) ?? [error.message]
    throw new CommandError(lines.join('\n'), wanted === undefined ? 'Give the input with --input.' : undefined)
  }
}

function withText(reporting: RunObserver | undefined, plan: Plan, text: (piece: string) => void): RunObserver {
  const events = new RunEvents(plan, [], (message) => text((JSON.parse(message) as { chunk: string }).chunk))
  return { ...reporting, chunk: (span, piece, place) => events.chunk(span, piece, place) }
}

/** A run from a file stores nothing. */
const nothingStored: FileStore = {
  store: () => Promise.reject(noStorage()),
  read: () => Promise.resolve(undefined),
  open: () => Promise.resolve(undefined),
  hold: () => Promise.reject(noStorage()),
  drafts: () => Promise.reject(noStorage()),
}

function noStorage(): AppError {
  return new AppError('STORAGE_UNAVAILABLE', 'Only the service stores files. Push the workflow to one.')
}

function planOf({ document, config, warn }: LocalRun, priceOf: PriceOf): Plan {
  const { plan, findings } = compilePlan(document, registry, limitsOf(config), priceOf)
  if (!plan) throw new CommandError(findings.map(findingText).join('\n'), 'The workflow was not run.')
  for (const finding of findings) warn(findingText(finding))
  return plan
}

function given(
  environment: Readonly<Record<string, string | undefined>>,
  names: ReadonlySet<string>,
): [name: string, value: string][] {
  return [...names].flatMap((name): [string, string][] => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value]]
  })
}
