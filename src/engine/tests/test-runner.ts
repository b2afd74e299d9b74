import type { Environment } from '../../domain/account/environment.ts'
import { MemoryEntries } from '../../domain/entry/memory-entries.ts'
import { AppError, clip, messageOf } from '../../domain/errors.ts'
import type { DoFormatWork } from '../../domain/format/format-work.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { Limits } from '../../domain/limits.ts'
import { addUsd } from '../../domain/run/cost.ts'
import type { FileStore } from '../../domain/run/file.ts'
import { isObject, type TriggerInput } from '../../domain/run/input.ts'
import type { RunRecord, Span } from '../../domain/run/log.ts'
import type { Models } from '../../domain/run/model-call.ts'
import type { RunProgram } from '../../domain/run/program.ts'
import { blockSpans } from '../../domain/run/trace.ts'
import {
  accepted,
  compare,
  type Difference,
  differencesMax,
  type PatternCheck,
} from '../../domain/workflow/test-comparison.ts'
import type { TestCall, WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import type { Outputs } from '../block.ts'
import type { Plan, PlanTrigger } from '../compile/plan.ts'
import { planPartial } from '../manual/partial-plan.ts'
import { PinnedOutputs } from '../manual/pinned-outputs.ts'
import { Runner } from '../run/runner.ts'
import type { RunnerOptions } from '../run/runner-options.ts'
import { fixedProgram, seededRandom } from './fixed-program.ts'
import { MockedCalls, mockedCredential } from './mocked-calls.ts'
import { VirtualClock } from './virtual-clock.ts'

export type TestRunnerOptions = Pick<RunnerOptions['capabilities'], 'limits' | 'priceOf' | 'inSlices' | 'connector'> & {
  runProgram: RunProgram
  doFormatWork?: DoFormatWork
  checkJson: Models['checkJson']
  deploymentOf: RunnerOptions['deploymentOf']
  /** The trigger at which a test starts, and its input. Throws INVALID_INPUT. */
  startOf(plan: Plan, test: WorkflowTest, now: number): { trigger: PlanTrigger; input: TriggerInput }
}

/** A compiled draft. */
export type TestedPlan = {
  plan: Plan
  workspaceId: string
  environment: Environment
  /** The outputs that are pinned to blocks of the draft. */
  pins: PinnedOutputs | undefined
}

/** The facts about a run of a test that expectations compare. */
export type Observed = {
  record: RunRecord
  output: unknown
  path: string[]
  calls: readonly TestCall[]
  /** In US dollars, with the costs that mocked outputs name. */
  cost: number
  /** The paths of patterns without a match. */
  mismatched: ReadonlySet<string>
  /** Whether mocks answered all requests. Otherwise, the outcome must not become the expectation. */
  isAnswered: boolean
}

export type TestRun = { differences: Difference[]; observed: Observed | undefined }

/** Runs tests of drafts in this process. No request leaves it, and nothing is recorded. */
export class TestRunner {
  readonly #options: TestRunnerOptions

  constructor(options: TestRunnerOptions) {
    this.#options = options
  }

  async run(tested: TestedPlan, test: WorkflowTest, signal: AbortSignal): Promise<TestRun> {
    const mocked = new MockedCalls(test.mocks ?? [])
    let observed: Omit<Observed, 'mismatched' | 'isAnswered'>
    try {
      observed = await this.#observe(tested, test, mocked, signal)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const message = error.details?.map((detail) => detail.message).join(' ') || messageOf(error)
      return { differences: [{ path: 'input', message }], observed: undefined }
    }
    const differences: Difference[] = Array.from(mocked.missing, (message) => ({ path: 'calls', message }))
    const patterns: PatternCheck[] = []
    differencesOf(test, observed, differences, patterns)
    const failed = await this.#failedPatterns(patterns, tested.workspaceId, signal)
    differences.push(...failed.slice(0, differencesMax))
    const isAnswered = mocked.missing.size === 0
    return {
      differences: shown(differences.map(bounded), tested.environment) as Difference[],
      observed: { ...observed, isAnswered, mismatched: new Set(failed.map(({ path }) => path)) },
    }
  }

  async #observe(
    { plan, workspaceId, environment, pins: pinned }: TestedPlan,
    test: WorkflowTest,
    mocked: MockedCalls,
    signal: AbortSignal,
  ): Promise<Omit<Observed, 'mismatched' | 'isAnswered'>> {
    const { limits, priceOf, inSlices, connector, runProgram, doFormatWork, checkJson } = this.#options
    const { deploymentOf, startOf } = this.#options
    const now = Date.parse(test.now ?? defaultNow)
    const seed = test.seed ?? 1
    const { trigger, input } = startOf(plan, test, now)
    const clock = new VirtualClock(now)
    const runner = new Runner({
      capabilities: {
        ...{ clock, turns: clock.turns, random: seededRandom(seed), limits: smaller(limits), priceOf, files: noFiles },
        ...(doFormatWork && { doFormatWork: (request) => clock.during(doFormatWork(request)) }),
        ...(connector && { connector: (workspace, id) => clock.during(connector(workspace, id)) }),
        ...{ fetch: mocked.fetch, mcp: mocked.mcp, sendMail: mocked.sendMail },
        ...{ databases: mocked.databases, entries: new MemoryEntries() },
        models: { call: mocked.model, checkJson: (schema, value) => clock.during(checkJson(schema, value)) },
        credential: async (_, name) => mockedCredential(name),
        inSlices: (slices) => clock.during(inSlices(slices)),
        runProgram: (request) => {
          return clock.during(runProgram({ ...request, program: fixedProgram(request.program, clock.now(), seed) }))
        },
      },
      record: async () => undefined,
      deploymentOf: (id, version) => clock.during(deploymentOf(id, version)),
      environmentOf: () => environment,
    })
    const executionId = newExecutionId()
    const cancel = () => runner.cancel(executionId, 'CANCELLED')
    signal.addEventListener('abort', cancel)
    try {
      const pins = pinnedOutputs(plan, test, pinned)
      const ending = runner.execute({
        ...{ plan, workflowId: plan.document.id ?? 'draft', workspaceId, version: 0, executionId, timeoutMs },
        ...{ trigger: trigger.node.definition.starts ?? 'manual', entry: trigger.node, input },
        ...(pins && { partial: planPartial(plan, {}, undefined, { pins }) }),
      })
      if (signal.aborted) cancel()
      const { record } = await ending
      const calls = shown(mocked.made, environment) as TestCall[]
      const { root, output, cost } = record
      const seen = { output: shown(output, environment), path: pathOf(root), calls }
      return { record, ...seen, cost: addUsd(cost.total, mockedCost(root)) }
    } finally {
      signal.removeEventListener('abort', cancel)
      clock.stop()
    }
  }

  /** All patterns of a test in one program. */
  async #failedPatterns(checks: readonly PatternCheck[], workspaceId: string, signal: AbortSignal) {
    if (checks.length === 0) return []
    const pairs = checks.map(({ pattern, text }) => [pattern, text])
    const request = { program: matchProgram, values: [pairs], timeoutMs: patternMs, signal, workspaceId }
    const outcome = await this.#options.runProgram(request)
    const results = outcome.ok && Array.isArray(outcome.result) ? (outcome.result as unknown[]) : []
    return checks.flatMap(({ path, pattern, text }, index): Difference[] => {
      if (results[index] === true) return []
      const problem = outcome.ok ? results[index] : outcome.message
      const reason = typeof problem === 'string' ? ` (${problem})` : ''
      return [{ path, message: `${path} must match ${pattern}${reason}.`, expected: { $match: pattern }, actual: text }]
    })
  }
}

/** The test with the outcome as its expectation. It keeps its members, and matchers that still match. */
export function updated(test: WorkflowTest, observed: Observed): WorkflowTest {
  const { record, output, path, calls, cost, mismatched } = observed
  const { expect } = test
  const { costBelow } = expect
  const next = {
    ...expect,
    ...(expect.success !== undefined || record.failure ? { success: record.failure === null } : {}),
    ...('output' in expect ? { output: accepted(expect.output, output, 'output', mismatched) } : {}),
    ...(expect.path ? { path } : {}),
    ...(expect.calls ? { calls: accepted(expect.calls, calls, 'calls', mismatched) as TestCall[] } : {}),
    ...(costBelow !== undefined && cost >= costBelow
      ? { costBelow: Number((cost * 1.25 || 0.01).toPrecision(2)) }
      : {}),
  }
  return { ...test, expect: next }
}

/** Tests do not count in the memory of all runs, and their outputs are compared on the main thread. */
function smaller(limits: Limits): Limits {
  const { blockBytesMax, runBytesMax } = limits
  return {
    ...limits,
    blockBytesMax: Math.min(blockBytesMax, valueBytesMax),
    runBytesMax: Math.min(runBytesMax, 4 * valueBytesMax),
  }
}

const valueBytesMax = 1_048_576

function differencesOf(
  { expect }: WorkflowTest,
  { record, output, path, calls, cost }: Omit<Observed, 'mismatched' | 'isAnswered'>,
  found: Difference[],
  patterns: PatternCheck[],
): void {
  const { success = true, costBelow } = expect
  if (success !== (record.failure === null)) {
    const message = record.failure
      ? `The run failed${record.failure.blockName ? ` in "${record.failure.blockName}"` : ''}: ${record.failure.message}`
      : 'The run succeeded, but the test expects it to fail.'
    found.push({ path: 'success', message })
  }
  if ('output' in expect) compare(expect.output, output, 'output', found, patterns)
  if (expect.path) {
    const [wanted, actual] = [expect.path.join(' → '), path.join(' → ')]
    if (wanted !== actual) {
      found.push({ path: 'path', message: 'The run took another path.', expected: wanted, actual })
    }
  }
  if (expect.calls) compare(expect.calls, calls, 'calls', found, patterns)
  if (costBelow !== undefined && cost >= costBelow) {
    found.push({
      path: 'cost',
      message: 'The run cost too much.',
      expected: `below ${costBelow}`,
      actual: cost,
    })
  }
}

/** The names of the blocks that ran, each once, in the order in which they began. */
export function pathOf(root: Span): string[] {
  const names = blockSpans(root)
    .filter(({ span, place }) => place.depth === 0 && span.status !== 'skipped')
    .map(({ span }) => span.name)
  return [...new Set(names)]
}

/** The outputs that the test has, and those that are pinned to blocks which its mocks do not name. */
function pinnedOutputs(plan: Plan, { mocks = [] }: WorkflowTest, pinned: PinnedOutputs = new PinnedOutputs(new Map())) {
  const ids = new Map(Object.values(plan.document.blocks).map(({ id, name }) => [name, id]))
  const named = mocks.flatMap(({ block, output }) => {
    const id = block === undefined ? undefined : ids.get(block)
    return id === undefined ? [] : [{ id, output }]
  })
  const outputs = new Map(named.flatMap(({ id, output }): [string, Outputs][] => (output ? [[id, output]] : [])))
  const pins = pinned.replaced(outputs, new Set(named.map(({ id }) => id)))
  return pins.isEmpty ? undefined : pins
}

/** The cost in the outputs of blocks that did not run. */
function mockedCost(root: Span): number {
  return blockSpans(root).reduce((sum, { span: { pinned, output } }) => {
    const cost = pinned && isObject(output) ? output['cost'] : undefined
    const total = isObject(cost) ? cost['total'] : undefined
    return typeof total === 'number' && Number.isFinite(total) ? addUsd(sum, total) : sum
  }, 0)
}

/** JSON data without secrets. */
function shown(output: unknown, { redactor }: Environment): unknown {
  const text = JSON.stringify(output ?? null)
  return JSON.parse(redactor ? redactor.redact(text) : text)
}

/** Long values of a difference are cut, so that a report stays readable. */
function bounded({ path, message, ...values }: Difference): Difference {
  const cut = Object.entries(values).map(([name, value]) => {
    const text = JSON.stringify(value) ?? ''
    return [name, text.length > valueCharsMax ? copyOf(clip(text, valueCharsMax)) : value]
  })
  return { path: clip(path, 200), message: clip(message, 1_000), ...Object.fromEntries(cut) }
}

/** By the clock of the test, on which the longest wait takes no time. Real time is limited in `suite.ts`. */
const timeoutMs = 500 * 86_400_000
/** A part of a text keeps all of it in memory. A copy does not. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

const valueCharsMax = 4_000
/** Gives tests without a time the same time on every day. */
const defaultNow = '2026-01-01T12:00:00.000Z'
const patternMs = 2_000

const matchProgram = {
  id: 'millrace-test-patterns',
  source:
    'return pairs.map(([pattern, text]) => { try { return new RegExp(pattern, "u").test(text) } ' +
    'catch (error) { return String(error.message) } })',
  parameters: ['pairs'],
}

const noFiles: FileStore = {
  store: () => Promise.reject(noStorage()),
  read: () => Promise.resolve(undefined),
  open: () => Promise.resolve(undefined),
  hold: () => Promise.reject(noStorage()),
  drafts: () => Promise.reject(noStorage()),
}

function noStorage(): AppError {
  return new AppError('STORAGE_UNAVAILABLE', 'A test stores no files.')
}
