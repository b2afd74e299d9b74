import type { Environment } from '../../domain/account/environment.ts'
import type { Clock } from '../../domain/clock.ts'
import { AppError, problemsError } from '../../domain/errors.ts'
import { FairShare } from '../../domain/fair-share.ts'
import type { InSlices } from '../../domain/slices.ts'
import { common } from '../../domain/workflow/test-comparison.ts'
import { testProblems } from '../../domain/workflow/test-file.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { mocksMax, testsBytesMax, testsMax, type WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import type { PinnedOutputs } from '../manual/pinned-outputs.ts'
import { type CompileTests, runSuite, type SuiteRequest, type TestResult } from './suite.ts'
import { type RecordedRun, testFromRun } from './test-from-run.ts'
import type { TestRunner } from './test-runner.ts'

export type WorkflowTestsOptions = {
  get(workflowId: string): Promise<{ content: string; revision: number; updatedAt: number } | undefined>
  set(workflowId: string, tests: { content: string; at: number } & Save): Promise<number>
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  compile: CompileTests
  /** A run of the workflow, as the log keeps it. */
  recordedRun(workflowId: string, executionId: string): Promise<RecordedRun | undefined>
  runner: TestRunner
  pinsOf(draft: Draft): Promise<PinnedOutputs | undefined>
  inSlices: InSlices
  clock: Clock
  shareFactor: number
}

export type SavedTests = { tests: WorkflowTest[]; revision: number; updatedAt?: number }
export type TestReport = { passed: number; failed: number; durationMs: number; results: TestResult[]; revision: number }

type Save = { by: string; ifRevision?: number | undefined }
type Draft = { id: string; workspaceId: string; document: WorkflowDocument }
type RunWish = {
  /** The tests to run; undefined for all. */
  names: readonly string[] | undefined
  /** Whether to replace expectations by outcomes, and the names in stale tests by the proposed names. */
  update: { by: string } | undefined
  signal: AbortSignal
}

/** The tests of workflows on the service. */
export class WorkflowTests {
  readonly #options: WorkflowTestsOptions
  /** Tests that run, by workspace. */
  readonly #places: FairShare

  constructor(options: WorkflowTestsOptions) {
    this.#options = options
    this.#places = new FairShare({ total: suitesMax, factor: options.shareFactor })
  }

  async of(workflowId: string): Promise<SavedTests> {
    const row = await this.#options.get(workflowId)
    if (!row) return { tests: [], revision: 0 }
    return { tests: JSON.parse(row.content), revision: row.revision, updatedAt: row.updatedAt }
  }

  /**
   * Replaces all tests. A secret of the workspace is saved as `{{NAME}}`, so that a test file can be kept with source
   * code. Throws INVALID_INPUT when a test could never pass or two have the same name, PAYLOAD_TOO_LARGE beyond the
   * budgets, CONFLICT when the tests were saved after `ifRevision`.
   */
  async save({ id, workspaceId }: Draft, tests: readonly WorkflowTest[], save: Save) {
    assertSound(tests)
    const { set, clock } = this.#options
    const content = await this.#withoutSecrets(workspaceId, tests)
    const bytes = Buffer.byteLength(content)
    if (bytes > testsBytesMax) {
      const message = `The tests of a workflow may have at most ${testsBytesMax} bytes as JSON. These have ${bytes}.`
      throw new AppError('PAYLOAD_TOO_LARGE', message)
    }
    const updatedAt = clock.now()
    return { revision: await set(id, { content, at: updatedAt, ...save }), updatedAt }
  }

  /** The tests as JSON text. */
  async #withoutSecrets(workspaceId: string, tests: readonly WorkflowTest[]): Promise<string> {
    const { environmentOf, inSlices } = this.#options
    const { redactor } = await environmentOf(workspaceId)
    const text = JSON.stringify(tests)
    return redactor ? await inSlices(redactor.redactInSlices(text)) : text
  }

  /**
   * Throws NOT_FOUND for an unknown name, INVALID_INPUT for a draft that cannot run, OVERLOADED when too many run, and
   * CANCELLED after `signal`; then no test changes.
   */
  async run(draft: Draft, { names, update, signal }: RunWish): Promise<TestReport> {
    const { clock } = this.#options
    const saved = await this.of(draft.id)
    const chosen = names ? named(saved.tests, names) : saved.tests
    const since = clock.monotonic()
    const ran = await this.#inPlace(draft.workspaceId, () =>
      this.#suite(draft, chosen, { signal, needs: update ? 'updates' : 'results' }),
    )
    assertWanted(signal)
    let { revision } = saved
    if (update) {
      const next = new Map(ran.map(({ test, next }) => [test, next ?? test]))
      const tests = saved.tests.map((test) => next.get(test) ?? test)
      const save = { by: update.by, ifRevision: revision }
      if (tests.some((test, index) => test !== saved.tests[index])) {
        revision = (await this.save(draft, tests, save)).revision
      }
    }
    const results = ran.map(({ result }) => result)
    const passed = results.filter(({ status }) => status === 'passed').length
    const durationMs = clock.monotonic() - since
    return { passed, failed: results.length - passed, durationMs, results, revision }
  }

  /**
   * Makes a test of a run and, unless `save` is false, adds it to the tests of the workflow. It runs once: values that
   * the draft gives differently each time are expected to have the same type only. Throws NOT_FOUND for an unknown run,
   * CONFLICT for one of which the log keeps too little.
   */
  async addFromRun(
    draft: Draft,
    { executionId, name, save = true }: { executionId: string; name?: string | undefined; save?: boolean | undefined },
    { by, signal }: { by: string; signal: AbortSignal },
  ) {
    const run = await this.#options.recordedRun(draft.id, executionId)
    if (!run) throw new AppError('NOT_FOUND', `The workflow has no run ${executionId} in the log.`)
    const { tests, revision: ifRevision } = await this.of(draft.id)
    const made = testFromRun(
      run,
      freeName(name ?? `Run of ${new Date(run.startedAt).toISOString().slice(0, 16)}`, tests),
    )
    const test = await this.#settled(draft, made, signal)
    assertWanted(signal)
    if ((test.mocks?.length ?? 0) > mocksMax) {
      const message = `The run made more than ${mocksMax} requests, the most that a test can answer.`
      throw new AppError('CONFLICT', message)
    }
    const [shown] = JSON.parse(await this.#withoutSecrets(draft.workspaceId, [test])) as [WorkflowTest]
    const { revision } = save ? await this.save(draft, [...tests, test], { by, ifRevision }) : { revision: ifRevision }
    return { name: test.name, revision, test: shown }
  }

  async #settled(draft: Draft, test: WorkflowTest, signal: AbortSignal): Promise<WorkflowTest> {
    const [ran] = await this.#inPlace(draft.workspaceId, () =>
      this.#suite(draft, [test], { signal, needs: 'observations' }),
    ).catch((error) => {
      if (error instanceof AppError && error.code === 'INVALID_INPUT') return []
      throw error
    })
    if (!ran?.observed) return test
    const { output, calls } = ran.observed
    const { expect } = test
    const isSame = 'output' in expect
    return {
      ...test,
      expect: { ...expect, ...(isSame && { output: common(expect.output, output) }), calls: [...calls] },
    }
  }

  async #inPlace<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> {
    if (!this.#places.hasRoom(workspaceId)) {
      throw new AppError('OVERLOADED', 'Too many tests are running. Try again in a moment.', { retryAfterS: 5 })
    }
    this.#places.take(workspaceId)
    try {
      return await work()
    } finally {
      this.#places.release(workspaceId)
    }
  }

  async #suite(draft: Draft, tests: readonly WorkflowTest[], wish: Pick<SuiteRequest, 'signal' | 'needs'>) {
    const { runner, compile, clock, environmentOf, pinsOf } = this.#options
    const pins = await pinsOf(draft)
    return await runSuite({ ...wish, draft, tests, runner, compile, clock, environmentOf, pins })
  }
}

function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('CANCELLED', 'The caller cancelled the request. No test has changed.')
}

/** Requests that run tests at the same time. With two, a workspace has one, so that the outputs fit in the memory. */
const suitesMax = 2

function named(tests: readonly WorkflowTest[], names: readonly string[]): WorkflowTest[] {
  const byName = new Map(tests.map((test) => [test.name, test]))
  return [...new Set(names)].map((name) => {
    const test = byName.get(name)
    if (test) return test
    throw new AppError('NOT_FOUND', `The workflow has no test "${name}". Somebody may have renamed or deleted it.`)
  })
}

/** The name, with a number if another test has it. */
function freeName(wanted: string, tests: readonly WorkflowTest[]): string {
  const taken = new Set(tests.map(({ name }) => name))
  let name = wanted
  for (let number = 2; taken.has(name); number += 1) name = `${wanted.slice(0, 190)} (${number})`
  return name
}

function assertSound(tests: readonly WorkflowTest[]): void {
  if (tests.length > testsMax) {
    throw new AppError('PAYLOAD_TOO_LARGE', `A workflow may have at most ${testsMax} tests, not ${tests.length}.`)
  }
  const details = testProblems(tests)
  if (details.length > 0) throw problemsError('INVALID_INPUT', details)
}
