import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, readReport } from './test-report.ts'

export type Counts = { passed: number; failed: number }

/** More than this is no noise of a busy machine, and would take long to run again. */
const triedAgainMax = 15

/**
 * Runs the tests that `words` name. What failed beside all others is tried once more, its file alone in a fresh process:
 * only what fails both times has failed. A run that broke off, or had an error that belongs to no test, is run once more
 * as a whole. All of this is said, since a test that needs a second try is to be mended.
 */
export async function runTests(folder: string, words: readonly string[]): Promise<Counts> {
  let run = await bunTest(folder, words)
  const first = run
  if (!first.isWhole) {
    console.log(`\n== tests, all once more: ${first.trouble}`)
    run = await bunTest(folder, words)
  }
  const passed = run.outcomes.filter(({ result }) => result === 'passed').length
  const failures = run.outcomes.filter(({ result }) => result === 'failed')
  const again = failures.length <= triedAgainMax ? await triedAlone(folder, failures) : new Set<Outcome>()
  console.log()
  if (!first.isWhole) console.log(`run once more as a whole: ${first.trouble}`)
  for (const failure of failures) {
    const how = again.has(failure) ? 'failed once, passed alone' : 'failed'
    console.log(`${how}: ${failure.file} > ${failure.name}`)
  }
  if (!run.isWhole) console.log(`failed: ${run.trouble}`)
  return { passed: passed + again.size, failed: failures.length - again.size + (run.isWhole ? 0 : 1) }
}

/** Those of the failures that pass when their file runs alone. */
async function triedAlone(folder: string, failures: readonly Outcome[]): Promise<Set<Outcome>> {
  const passed = new Set<Outcome>()
  for (const [file, ofFile] of Map.groupBy(failures, (failure) => failure.file)) {
    console.log(`\n== ${file}, once more and alone`)
    const run = await bunTest(folder, [`./${file}`])
    for (const failure of ofFile) {
      const same = run.outcomes.filter(({ name }) => name === failure.name)
      const hasPassed = same.length > 0 && same.every(({ result }) => result === 'passed')
      // A hook is in the report only when it failed.
      if (run.code === 0 || (run.isWhole && hasPassed)) passed.add(failure)
    }
  }
  return passed
}

type Run = {
  code: number
  outcomes: Outcome[]
  /** Whether the report tells all that happened: it is there, and every failure is a test's. */
  isWhole: boolean
  /** What it does not tell. */
  trouble: string
}

async function bunTest(folder: string, words: readonly string[]): Promise<Run> {
  const reports = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const report = join(reports, 'report.xml')
  try {
    // Long enough for a slow machine that has other work, too: it is there for what would never end.
    const bounds = ['--timeout', '120000']
    const to = ['--reporter=junit', `--reporter-outfile=${report}`]
    const child = Bun.spawn([process.execPath, 'test', ...bounds, ...to, ...words], {
      cwd: folder,
      // It is not passed on: it may be closed.
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'pipe',
    })
    const output = await passOn(child)
    const code = await child.exited
    const outcomes = reportAt(report)
    const failed = outcomes?.some(({ result }) => result === 'failed') ?? false
    const isWhole = outcomes !== undefined && !hasErrorOutside(output) && failed === (code !== 0)
    const trouble = `the runner ended with ${child.signalCode ?? code}\n${errorsOutside(output).join('\n')}`.trimEnd()
    return { code, outcomes: outcomes ?? [], isWhole, trouble }
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

/** An error outside of a test is counted in the last lines only, and by the exit code beside all failures. */
function hasErrorOutside(output: string): boolean {
  return /^ \d+ errors?$/m.test(output.slice(-1000))
}

function errorsOutside(output: string): string[] {
  return [...output.matchAll(/^# Unhandled error between tests\n-+\n([\s\S]*?)\n-+$/gm)].map(([, error = '']) => error)
}

/** Shows what the runner prints as it comes, and gives all of it. */
async function passOn(child: Bun.Subprocess<'ignore', 'inherit', 'pipe'>): Promise<string> {
  const reader = child.stderr.getReader()
  // A process that a broken test left running holds the pipe open: then what is there a second after the end is all.
  void child.exited.then(() => Bun.sleep(1000)).then(() => reader.cancel())
  const decoder = new TextDecoder()
  let output = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    // Waited for: the last line shall come after it, wherever the two of them go.
    await Bun.write(Bun.stderr, part.value)
    output += decoder.decode(part.value, { stream: true })
  }
  return output
}

function reportAt(path: string): Outcome[] | undefined {
  try {
    return readReport(readFileSync(path, 'utf8'))
  } catch {
    // The runner died before it wrote one.
    return undefined
  }
}
