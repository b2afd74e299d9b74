import { dirname } from 'node:path'
import { registry } from '../../blocks/registry.ts'
import { type Config, limitsOf } from '../../config.ts'
import { BuiltIn } from '../../connectors/built-in.ts'
import { variableReference } from '../../domain/account/environment.ts'
import { systemClock } from '../../domain/clock.ts'
import type { Connector } from '../../domain/connector/connector.ts'
import { AppError } from '../../domain/errors.ts'
import { createRedactor } from '../../domain/redaction/redactor.ts'
import { finish } from '../../domain/slices.ts'
import { compilePlan, type Plan } from '../../engine/compile/plan.ts'
import type { Deployment } from '../../engine/deployments.ts'
import { PinnedOutputs } from '../../engine/manual/pinned-outputs.ts'
import { type RanTest, runSuite } from '../../engine/tests/suite.ts'
import { TestRunner } from '../../engine/tests/test-runner.ts'
import { Formats } from '../../formats/formats.ts'
import { chooseTrigger, manualInput } from '../../http/requests/manual-run.ts'
import { checkJson } from '../../models/json-check.ts'
import { Sandbox } from '../../sandbox/sandbox.ts'
import { priceTableOf } from '../support/model-settings.ts'
import type { Folders, LoadedTests } from './test-files.ts'

type Options = { config: Config; connectors: ReadonlyMap<string, Connector>; folders: Folders }

/** Runs test files in this process, without a service and without storage. No request leaves the process. */
export class LocalTests {
  readonly #options: Options
  readonly #sandbox = new Sandbox()
  readonly #formats = new Formats()
  readonly #builtIn = new BuiltIn()
  readonly #plans = new Map<string, Deployment | undefined>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Throws INVALID_INPUT for a document that cannot run. */
  async run({ path, file, workflow }: LoadedTests, needs: 'results' | 'updates'): Promise<RanTest[]> {
    const { config, connectors } = this.#options
    const limits = limitsOf(config)
    const priceOf = priceTableOf(config)
    const compiled = compilePlan(workflow.document, registry, limits, priceOf)
    const runner = new TestRunner({
      ...{ limits, priceOf, checkJson, runProgram: this.#sandbox.run, doFormatWork: this.#formats.run },
      inSlices: async (slices) => finish(slices),
      connector: async (_, id) => connectors.get(id) ?? (await this.#builtIn.find(id)),
      deploymentOf: async (id) => this.#called(dirname(path), id),
      startOf(plan, test, now) {
        const trigger = chooseTrigger(plan, test.trigger, undefined)
        if (!trigger) throw new AppError('INVALID_INPUT', 'The workflow has no enabled trigger. Add one.')
        return { trigger, input: manualInput(trigger, test.input, now) }
      },
    })
    return await runSuite({
      draft: { workspaceId, document: workflow.document },
      ...{ tests: file.tests, signal: new AbortController().signal, runner, clock: systemClock, needs },
      pins: new PinnedOutputs(new Map(workflow.pins.map(({ block, output }) => [block, output]))),
      compile: async () => compiled,
      environmentOf: () => this.#environmentOf(compiled.plan, path),
    })
  }

  async stop(): Promise<void> {
    await this.#sandbox.stop()
    await this.#formats.stop()
  }

  /** Each variable has its own name as value, as the log shows secrets, so that a test gives the same everywhere. */
  #environmentOf(plan: Plan | undefined, path: string) {
    const called = callsWorkflows(plan) ? JSON.stringify(this.#options.folders.of(dirname(path))) : ''
    const inCalled = Array.from(called.matchAll(variableReference), ([, name]) => name as string)
    const names = new Set([...(plan?.environmentNames ?? []), ...inCalled])
    const values = new Map(Array.from(names, (name) => [name, `{{${name}}}`] as const))
    return { values, redactor: createRedactor([...(plan?.writtenSecrets ?? [])]) }
  }

  /** A workflow that another one calls: the document with this ID or name in the folder of the tests. */
  #called(folder: string, id: string): Deployment | undefined {
    const key = `${folder}\0${id}`
    if (this.#plans.has(key)) return this.#plans.get(key)
    const documents = this.#options.folders.of(folder)
    const found =
      documents.find(({ document }) => document.id === id) ?? documents.find(({ document }) => document.name === id)
    const deployment = found && this.#deployed(id, found.document)
    this.#plans.set(key, deployment)
    return deployment
  }

  #deployed(workflowId: string, document: LoadedTests['workflow']['document']): Deployment {
    const { config } = this.#options
    const { plan, findings } = compilePlan(document, registry, limitsOf(config), priceTableOf(config))
    return { workflowId, workspaceId, ownerId: 'none', version: 0, plan: plan ?? null, findings }
  }
}

/** Whether a block, or a tool of an agent, may call another workflow. */
function callsWorkflows(plan: Plan | undefined): boolean {
  return JSON.stringify(plan?.document.blocks ?? {}).includes('"workflow')
}

const workspaceId = 'none'
