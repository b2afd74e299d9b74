import { registry } from '../../../src/blocks/registry.ts'
import type { Environment } from '../../../src/domain/account/environment.ts'
import { type Clock, systemClock } from '../../../src/domain/clock.ts'
import type { Connector } from '../../../src/domain/connector/connector.ts'
import type { EntryPower } from '../../../src/domain/entry/entry.ts'
import { MemoryEntries } from '../../../src/domain/entry/memory-entries.ts'
import { defaultLimits, type Limits, responseBytesMax } from '../../../src/domain/limits.ts'
import { MailError } from '../../../src/domain/mail/mail.ts'
import type { OutboundFetch, OutboundOpen } from '../../../src/domain/outbound-request.ts'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import type { Price } from '../../../src/domain/run/cost.ts'
import { inputOf, readInput } from '../../../src/domain/run/input.ts'
import type { Span } from '../../../src/domain/run/log.ts'
import { type PriceOf, pricesWith } from '../../../src/domain/run/model-prices.ts'
import { SliceQueue } from '../../../src/domain/slice-queue.ts'
import type { TriggerKind, WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { compilePlan, type Plan } from '../../../src/engine/compile/plan.ts'
import type { Deployment } from '../../../src/engine/deployments.ts'
import type { Capabilities } from '../../../src/engine/run/run.ts'
import type { RunEnd } from '../../../src/engine/run/run-end.ts'
import type { RunRequest } from '../../../src/engine/run/run-request.ts'
import { Runner } from '../../../src/engine/run/runner.ts'
import { Formats } from '../../../src/formats/formats.ts'
import { McpServers } from '../../../src/mcp/servers.ts'
import { createLanguageModels } from '../../../src/models/language-models.ts'
import { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { noFiles } from '../../support/no-files.ts'

const noConnection = { ok: false, code: 'CONNECTION_FAILED', message: 'No network here.' } as const
const noNetwork: OutboundFetch = async () => noConnection
const closed: OutboundOpen = async () => noConnection

export type WorldOptions = {
  limits?: Partial<Limits>
  /** By id: workflows that `workflow` blocks can call. */
  deployed?: Record<string, WorkflowDocument>
  environment?: Record<string, string>
  fetch?: OutboundFetch
  /** Opens the connections to language models and MCP servers. */
  open?: OutboundOpen
  /** Added to the built-in table. */
  prices?: Record<string, Price>
  entries?: EntryPower
  databases?: NonNullable<Capabilities['databases']>
  sendMail?: NonNullable<Capabilities['sendMail']>
  /** The connector that operations use. */
  connector?: Connector
  trigger?: TriggerKind
  clock?: Clock
  /** Called for each lookup of a called workflow. */
  onDeployment?(workflowId: string, version: number | undefined): void
  /** Delays the writing of log entries. */
  record?(): Promise<void>
}

/** An environment in which every variable is secret. */
function environmentOf(variables: Record<string, string>): Environment {
  const values = new Map(Object.entries(variables))
  return { values, redactor: createRedactor(Array.from(values, ([name, value]) => ({ name, value }))) }
}

/** Real blocks, a real walk and a real sandbox, without a store and without HTTP. */
export class World {
  /** Whether a run has ended and its log entry is being written. */
  recorded = false
  readonly sandbox = new Sandbox({ workersMax: 1 })
  readonly formats = new Formats({ workersMax: 1 })
  readonly limits: Limits
  readonly runner: Runner
  readonly #options: WorldOptions
  readonly #priceOf: PriceOf

  constructor(options: WorldOptions = {}) {
    this.#options = options
    this.limits = { ...defaultLimits, ...options.limits }
    this.#priceOf = pricesWith(new Map(Object.entries(options.prices ?? {})))
    const { clock = systemClock, open = closed } = options
    const inSlices = new SliceQueue(systemClock).run
    const mcpServers = new McpServers({
      ...{ clock, clientVersion: '0' },
      ownAccess: (target, signal) => ({ ...target, authorization: async () => undefined, open, inSlices, signal }),
    })
    this.runner = new Runner({
      capabilities: {
        clock,
        random: Math.random,
        limits: this.limits,
        fetch: options.fetch ?? noNetwork,
        runProgram: this.sandbox.run,
        doFormatWork: this.formats.run,
        inSlices,
        files: noFiles,
        entries: options.entries ?? new MemoryEntries(),
        mcp: { open, connect: mcpServers.connect },
        ...(options.databases ? { databases: options.databases } : {}),
        sendMail: options.sendMail ?? (() => Promise.reject(new MailError('CONNECTION_FAILED', 'No network here.'))),
        models: createLanguageModels({ open, clock, responseBytesMax }),
        priceOf: this.#priceOf,
        connector: async () => options.connector,
      },
      record: async () => {
        this.recorded = true
        await options.record?.()
      },
      deploymentOf: async (workflowId, version) => {
        options.onDeployment?.(workflowId, version)
        return this.#deployment(workflowId)
      },
      environmentOf: () => environmentOf(options.environment ?? {}),
    })
  }

  check(document: WorkflowDocument) {
    return compilePlan(document, registry, this.limits, this.#priceOf).findings
  }

  /** Throws with the findings when it cannot be deployed. */
  plan(document: WorkflowDocument): Plan {
    const { plan, findings } = compilePlan(document, registry, this.limits, this.#priceOf)
    if (plan) return plan
    throw new Error(findings.map(({ message }) => message).join('\n'))
  }

  /** Compiles and runs a document; throws with the findings when it cannot be deployed. */
  async run(document: WorkflowDocument, body: unknown = {}, more: Partial<RunRequest> = {}): Promise<RunEnd> {
    const plan = this.plan(document)
    const trigger = this.#options.trigger ?? 'api'
    const format = plan.triggers.get(trigger)?.format ?? []
    const reading = readInput(inputOf(body, format), format)
    if (!reading.ok) throw new Error(JSON.stringify(reading.details))
    const facts = { workflowId: 'w', workspaceId: 'ws', version: 1, trigger }
    return await this.runner.execute({ plan, input: reading.value, ...facts, ...more })
  }

  /** The output of a run that must succeed. */
  async output(document: WorkflowDocument, body: unknown = {}): Promise<unknown> {
    const { record } = await this.run(document, body)
    if (record.failure) throw new Error(`${record.failure.code}: ${record.failure.message}`)
    return record.output
  }

  async stop(): Promise<void> {
    await this.sandbox.stop()
    await this.formats.stop()
  }

  #deployment(workflowId: string): Deployment | undefined {
    const document = this.#options.deployed?.[workflowId]
    if (!document) return undefined
    const { plan, findings } = compilePlan(document, registry, this.limits, this.#priceOf)
    return { workflowId, workspaceId: 'ws', ownerId: 'u', version: 1, plan: plan ?? null, findings }
  }
}

/** Every span of a run, by name. */
export function spansOf(root: Span): Map<string, Span[]> {
  const byName = new Map<string, Span[]>()
  const open = [root]
  for (let span = open.shift(); span; span = open.shift()) {
    byName.set(span.name, [...(byName.get(span.name) ?? []), span])
    open.push(...span.children)
  }
  return byName
}
