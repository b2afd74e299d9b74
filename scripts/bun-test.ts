import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, readReport } from './test-report.ts'

export type BunTestRun = {
  code: number
  outcomes: Outcome[]
  /** Why the outcomes are not all that happened: a test process crashed, or an error belongs to no test. */
  broken: string | undefined
}

export type BunTestOptions = {
  processes: number
  /** Variables besides those of this process. */
  environment: Readonly<Record<string, string>>
  stop: AbortSignal
}

/** A slow and busy machine stays below this. It ends tests that would never end. */
const testTimeoutMs = 120_000
/** The name that `bun test` gives to the crash of a test process in its report. */
const crashName = '(worker crashed)'

/** Runs test files with `bun test`, each in a clean global scope, up to `processes` of them at once. */
export async function bunTest(
  folder: string,
  files: readonly string[],
  { processes, environment, stop }: BunTestOptions,
): Promise<BunTestRun> {
  const reports = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const report = join(reports, 'report.xml')
  try {
    const options = [`--parallel=${processes}`, `--timeout=${testTimeoutMs}`]
    const reporter = ['--reporter=junit', `--reporter-outfile=${report}`]
    const paths = files.map((file) => `./${file}`)
    const child = Bun.spawn([process.execPath, 'test', ...options, ...reporter, ...paths], {
      cwd: folder,
      // Standard input may be closed, so it is not passed on.
      stdio: ['ignore', 'inherit', 'pipe'],
      signal: stop,
      env: { ...Bun.env, ...environment },
      // A process group of its own: what a test left running ends with it, below.
      detached: true,
    })
    void child.exited.then(() => endGroup(child.pid))
    const output = await passOn(child)
    const code = await child.exited
    const outcomes = reportAt(report)
    return { code, outcomes: outcomes ?? [], broken: brokenBy(child, outcomes, output) }
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

function brokenBy(
  { exitCode, signalCode }: Bun.Subprocess,
  outcomes: readonly Outcome[] | undefined,
  output: string,
): string | undefined {
  if (outcomes === undefined) return `bun test ended with ${signalCode ?? exitCode} and wrote no report`
  const crashed = outcomes.filter(({ name }) => name === crashName).map(({ file }) => file)
  if (crashed.length > 0) return `the test process of ${crashed.join(', ')} crashed`
  // The report does not contain these errors; the last lines of the output count them.
  if (/^ \d+ errors?$/m.test(output.slice(-1000))) return `an error outside of every test\n${errorsOutside(output)}`
  const hasFailure = outcomes.some(({ result }) => result === 'failed')
  if (hasFailure === (exitCode !== 0)) return undefined
  return `bun test ended with ${signalCode ?? exitCode}, which its report does not explain`
}

function errorsOutside(output: string): string {
  const blocks = output.matchAll(/^# Unhandled error between tests\n-+\n([\s\S]*?)\n-+$/gm)
  return [...blocks].map(([, error = '']) => error).join('\n')
}

/** Ends what is left of a process group. Bun itself ends the groups of the test processes that it started. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nothing is left.
  }
}

/** Prints the output as it arrives, and returns all of it. */
async function passOn(child: Bun.Subprocess<'ignore', 'inherit', 'pipe'>): Promise<string> {
  const decoder = new TextDecoder()
  let output = ''
  for await (const part of child.stderr) {
    // Awaited, so that the last line comes after this, even if both streams go to one file.
    await Bun.write(Bun.stderr, part)
    output += decoder.decode(part, { stream: true })
  }
  return output
}

function reportAt(path: string): Outcome[] | undefined {
  try {
    return readReport(readFileSync(path, 'utf8'))
  } catch {
    // The process ended before it wrote a report.
    return undefined
  }
}
