import { PostgresServer } from '../test/support/store/postgres.ts'
import { type BunTestOptions, type BunTestRun, bunTest } from './bun-test.ts'
import type { Outcome } from './test-report.ts'
import { processesFor, type TierName, testFiles } from './test-tiers.ts'

export type RunOptions = {
  tiers: readonly TierName[]
  /** Any flaky test fails the run. */
  strict?: boolean
  /** Select test files by their path; none selects all. */
  words?: readonly string[]
  /** Ends the run and everything that it started. */
  stop?: AbortSignal
}

export type RunResult = {
  passed: number
  /** One line for each failed test, or for what broke the run. */
  failed: readonly string[]
  /** Tests that failed and then passed alone. */
  flaky: readonly string[]
  flakyMax: number
}

/** More flaky tests than this fail a run. */
const flakyMax = 3
/** When more tests fail than this, something is broken. Then no test is retried. */
const retriedMax = 15

/**
 * Runs the tests of some tiers, one tier after the other. A test that fails is retried once, its file alone in a new
 * process. If it passes then, it is flaky. A skipped test has failed: it proves nothing. A broken run (a test process
 * that crashed, an error outside of every test) is not repeated: it fails, and the tiers after it do not run.
 */
export async function runTests(folder: string, options: RunOptions): Promise<RunResult> {
  const { tiers, strict = false, words = [], stop = new AbortController().signal } = options
  const result = { passed: 0, failed: [] as string[], flaky: [] as string[], flakyMax: strict ? 0 : flakyMax }
  let isFound = false
  for (const tier of tiers) {
    const files = testFiles(folder, tier, words)
    if (files.length === 0 || stop.aborted) continue
    isFound = true
    console.log(`\n== ${tier} tests`)
    await using server = tier === 'postgres' ? await PostgresServer.start() : undefined
    const environment: Record<string, string> = server ? { TEST_POSTGRES: server.url('postgres') } : {}
    const options = { environment, stop }
    const run = await bunTest(folder, files, { processes: processesFor(tier), ...options })
    const failures = run.outcomes.filter((outcome) => outcome.result === 'failed')
    const flaky = run.broken === undefined ? await retry(folder, failures, options) : new Set<Outcome>()
    result.passed += run.outcomes.filter((outcome) => outcome.result === 'passed').length
    result.flaky.push(...[...flaky].map(nameOf))
    result.failed.push(...failures.filter((failure) => !flaky.has(failure)).map(nameOf))
    const skipped = run.outcomes.filter((outcome) => outcome.result === 'skipped')
    result.failed.push(...skipped.map((outcome) => `${nameOf(outcome)} was skipped`))
    if (run.broken !== undefined) {
      result.failed.push(`the run of the ${tier} tests broke: ${run.broken}`)
      break
    }
  }
  if (!isFound)
    result.failed.push(words.length === 0 ? 'there is no test file' : `no test file for "${words.join(' ')}"`)
  return result
}

/** Whether the tests passed. Flaky tests count as passed as long as there are few of them. */
export function isPassing({ failed, flaky, flakyMax }: RunResult): boolean {
  return failed.length === 0 && flaky.length <= flakyMax
}

/** The lines at the end of a run. The counts are alone on the last line; `others` are counted with the tests. */
export function summaryLines(result: RunResult, others = { passed: 0, failed: 0 }): string[] {
  const { failed, flaky, flakyMax } = result
  const tooMany = flaky.length > flakyMax
  const passed = others.passed + result.passed + (tooMany ? 0 : flaky.length)
  const failures = others.failed + failed.length + (tooMany ? flaky.length : 0)
  const bound = tooMany ? `; at most ${flakyMax} may be, so they count as failed` : ''
  return [
    '',
    ...failed.map((line) => `failed: ${line}`),
    ...flaky.map((name) => `flaky: ${name}`),
    ...(flaky.length > 0 ? [`${flaky.length} flaky${bound}`] : []),
    `${passed} passed, ${failures} failed`,
  ]
}

/** The failures that pass when their file runs alone. */
async function retry(
  folder: string,
  failures: readonly Outcome[],
  options: Pick<BunTestOptions, 'environment' | 'stop'>,
): Promise<Set<Outcome>> {
  const passed = new Set<Outcome>()
  if (failures.length > retriedMax) return passed
  for (const [file, inFile] of Map.groupBy(failures, (failure) => failure.file)) {
    if (options.stop.aborted) return passed
    console.log(`\n== retry of ${file}`)
    const run = await bunTest(folder, [file], { processes: 1, ...options })
    for (const failure of inFile) if (passedIn(run, failure)) passed.add(failure)
  }
  return passed
}

function passedIn(run: BunTestRun, { name }: Outcome): boolean {
  if (run.broken !== undefined) return false
  const same = run.outcomes.filter((outcome) => outcome.name === name)
  // The report names a hook only when it failed.
  return same.length > 0 ? same.every(({ result }) => result === 'passed') : run.code === 0
}

function nameOf({ file, name }: Outcome): string {
  return `${file} > ${name}`
}
