import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * `bun run test`: checks, builds the executable, runs every test. The last line is always `N passed, N failed`, alone;
 * a check or a build counts as one test. Words behind it go to `bun test`: `bun run test config` runs what is so named.
 */
async function main(): Promise<number> {
  const outcomes = [
    step('types', ['tsc', '--noEmit']),
    step('format and lint', ['biome', 'check', '--error-on-warnings', '.']),
    step('build', [process.execPath, 'scripts/build.ts']),
  ]
  const tests = runTests(process.argv.slice(2))
  const passed = outcomes.filter((ok) => ok).length + tests.passed
  const failed = outcomes.filter((ok) => !ok).length + tests.failed
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

const root = resolve(import.meta.dir, '..')

/** Runs one command of the project and says how it ended. */
function step(name: string, command: string[]): boolean {
  console.log(`\n== ${name}`)
  return run(command) === 0
}

type Counts = { passed: number; failed: number }

function runTests(words: readonly string[]): Counts {
  console.log('\n== tests')
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const report = join(folder, 'report.xml')
  try {
    // Long enough for a slow machine that has other work, too: it is there for what would never end.
    const bounds = ['--timeout', '60000']
    const code = run([
      process.execPath,
      'test',
      ...bounds,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...words,
    ])
    const counts = readReport(report)
    // Without a report, or with a failure that it does not show (an error outside a test), the tests did not pass.
    if (!counts) return { passed: 0, failed: 1 }
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readReport(path: string): Counts | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const head = /<testsuites\b[^>]*>/.exec(text)?.[0] ?? ''
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? Number.NaN)
  const [tests, failed, skipped] = [count('tests'), count('failures'), count('skipped')]
  if (![tests, failed].every(Number.isInteger)) return undefined
  return { passed: tests - failed - (Number.isInteger(skipped) ? skipped : 0), failed }
}

/** Standard input is not passed on: it may be closed. */
function run(command: string[]): number {
  const [name = '', ...rest] = command
  // By its path, since `bun scripts/test.ts` alone has no `node_modules/.bin` on the PATH.
  const file = name.includes('/') ? name : join(root, 'node_modules', '.bin', name)
  const child = Bun.spawnSync([file, ...rest], { cwd: root, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' })
  return child.exitCode
}

process.exit(await main())
