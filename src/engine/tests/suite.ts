import type { Environment } from '../../domain/account/environment.ts'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import { estimateSize } from '../../domain/estimate-size.ts'
import type { Difference } from '../../domain/workflow/test-comparison.ts'
import type { Finding, StartKind, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { testsBytesMax, type WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import type { Plan } from '../compile/plan.ts'
import type { PinnedOutputs } from '../manual/pinned-outputs.ts'
import { renamed, staleNames } from './stale-names.ts'
import { type Observed, type TestRunner, updated } from './test-runner.ts'

/** Compiles the part of a draft that a trigger reaches. */
export type CompileTests = (
  document: WorkflowDocument,
  workspaceId: string,
  trigger: StartKind | undefined,
) => Promise<{ plan: Plan | undefined; findings: readonly Finding[] }>

export type SuiteRequest = {
  draft: { workspaceId: string; document: WorkflowDocument }
  tests: readonly WorkflowTest[]
  signal: AbortSignal
  runner: TestRunner
  compile: CompileTests
  clock: Clock
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  /** The outputs that are pinned to blocks of the draft. */
  pins: PinnedOutputs | undefined
  /** Whether the caller also needs updated tests (the default) or the observations of the runs. */
  needs?: 'results' | 'updates' | 'observations'
}

export type TestResult = {
  name: string
  status: 'passed' | 'failed' | 'stale'
  durationMs: number
  differences: Difference[]
  /** The names that the blocks of a stale test probably have now. */
  renames: Record<string, string> | null
}

/** `next`: the test after an update; undefined when there is nothing to update. */
export type RanTest = {
  test: WorkflowTest
  result: TestResult
  observed: Observed | undefined
  next: WorkflowTest | undefined
}

/** Runs tests of a draft, some at a time, each for a limited time. Results are in the order of the tests. */
export async function runSuite({ draft, tests, signal, runner, ...options }: SuiteRequest): Promise<RanTest[]> {
  const { compile, clock, environmentOf, pins, needs = 'updates' } = options
  const budget = new ReportBudget()
  const { document, workspaceId } = draft
  const environment = testEnvironment(await environmentOf(workspaceId))
  const plans = new Map<StartKind | undefined, Promise<Plan>>()
  const planOf = (trigger: StartKind | undefined) => {
    const known = plans.get(trigger)
    if (known) return known
    const compiled = compile(document, workspaceId, trigger).then(({ plan, findings }) => plan ?? refuse(findings))
    plans.set(trigger, compiled)
    return compiled
  }
  const whole = new AbortController()
  const stop = () => whole.abort()
  signal.addEventListener('abort', stop)
  const timer = clock.setTimer(suiteMs, stop)

  const one = async (test: WorkflowTest): Promise<RanTest> => {
    const stale = staleNames(test, document)
    if (stale.size > 0) return staleTest(test, stale)
    if (whole.signal.aborted) return unfinished(test, 0)
    const since = clock.monotonic()
    const own = new AbortController()
    const end = () => own.abort()
    whole.signal.addEventListener('abort', end)
    const limit = clock.setTimer(testMs, end)
    try {
      const tested = { plan: await planOf(test.trigger), workspaceId, environment, pins }
      const { differences, observed } = await runner.run(tested, test, own.signal)
      const durationMs = clock.monotonic() - since
      if (own.signal.aborted) return unfinished(test, durationMs)
      const status = differences.length === 0 ? ('passed' as const) : ('failed' as const)
      const result = { name: test.name, status, durationMs, differences: budget.take(differences), renames: null }
      // The outputs of hundreds of tests would not fit in the memory.
      const isUpdated = needs === 'updates' && observed?.isAnswered && status === 'failed'
      const next = isUpdated ? budget.keep(updated(test, observed)) : undefined
      return { test, observed: needs === 'observations' ? observed : undefined, next, result }
    } finally {
      limit.cancel()
      whole.signal.removeEventListener('abort', end)
    }
  }

  const results: RanTest[] = []
  let next = 0
  const work = async () => {
    for (let index = next++; index < tests.length; index = next++)
      results[index] = await one(tests[index] as WorkflowTest)
  }
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, tests.length) }, work))
    return results
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', stop)
  }
}

/** Limits the size of all results of a request together. */
class ReportBudget {
  #differenceBytes = 0
  #updateBytes = 0

  /** Once there are many differences, only the first one of each further test stays, without its values. */
  take(differences: Difference[]): Difference[] {
    this.#differenceBytes += estimateSize(differences)
    if (this.#differenceBytes <= differencesBytesMax) return differences
    return differences.slice(0, 1).map(({ path, message }) => ({ path, message }))
  }

  /** Throws PAYLOAD_TOO_LARGE when the updated tests could not be saved. */
  keep(test: WorkflowTest): WorkflowTest {
    this.#updateBytes += estimateSize(test)
    if (this.#updateBytes <= 2 * testsBytesMax) return test
    const message = `The updated tests would have more than ${testsBytesMax} bytes. Update fewer, or expect less.`
    throw new AppError('PAYLOAD_TOO_LARGE', message)
  }
}

const differencesBytesMax = 1_048_576

/** Tests of one request that run at the same time. */
const atOnce = 2
const testMs = 10_000
const suiteMs = 60_000

function staleTest(test: WorkflowTest, names: ReadonlyMap<string, string | null>): RanTest {
  const differences = Array.from(names, ([name, now]) => {
    const proposal = now === null ? ' Correct the test, or add the block.' : ` It is probably called "${now}" now.`
    return { path: 'blocks', message: `The draft has no block "${name}".${proposal}` }
  })
  const known = [...names].filter((entry): entry is [string, string] => entry[1] !== null)
  const renames = known.length > 0 ? Object.fromEntries(known) : null
  const result = { name: test.name, status: 'stale' as const, durationMs: 0, differences, renames }
  return { test, observed: undefined, next: renames ? renamed(test, names) : undefined, result }
}

function unfinished(test: WorkflowTest, durationMs: number): RanTest {
  const message = `The test did not end in time: one test may take ${testMs / 1_000} s, and all tests ${suiteMs / 1_000} s.`
  const differences = [{ path: 'time', message }]
  const result = { name: test.name, status: 'failed' as const, durationMs, differences, renames: null }
  return { test, observed: undefined, next: undefined, result }
}

/** Secrets have their own names as values, as the log shows them. A test needs no secret, and cannot give one away. */
function testEnvironment(environment: Environment): Environment {
  const secret = new Set(environment.redactor?.secrets.map(({ name }) => name))
  const shown = Array.from(
    environment.values,
    ([name, value]) => [name, secret.has(name) ? `{{${name}}}` : value] as const,
  )
  // A secret that the draft contains becomes known when the draft is compiled.
  return {
    values: new Map(shown),
    get redactor() {
      return environment.redactor
    },
  }
}

function refuse(findings: readonly Finding[]): never {
  const errors = findings.filter(({ level }) => level === 'error')
  const details = errors.map(({ path, message }) => ({ path, message }))
  throw new AppError('INVALID_INPUT', `The draft cannot run: ${details[0]?.message ?? ''}`, { details })
}
