import { join, resolve } from 'node:path'
import { runTests } from './run-tests.ts'

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
  console.log('\n== tests')
  const tests = await runTests(root, process.argv.slice(2))
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

/** Standard input is not passed on: it may be closed. */
function run(command: string[]): number {
  const [name = '', ...rest] = command
  // By its path, since `bun scripts/test.ts` alone has no `node_modules/.bin` on the PATH.
  const file = name.includes('/') ? name : join(root, 'node_modules', '.bin', name)
  const child = Bun.spawnSync([file, ...rest], { cwd: root, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' })
  return child.exitCode
}

process.exit(await main())
