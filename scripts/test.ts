import { join, resolve } from 'node:path'
import { isPassing, runTests, summaryLines } from './run-tests.ts'
import { isTierName, type TierName, tierNames } from './test-tiers.ts'

const root = resolve(import.meta.dir, '..')
const usage = `Usage: bun run test [--tier ${tierNames.join('|')}] [--strict] [WORD...]
Without --tier, all tiers run. A word selects the test files whose path contains it. --strict: a flaky test fails the run.`

type Options = { tiers: readonly TierName[]; strict: boolean; words: string[] }

/**
 * `bun run test`: checks types, format and lint, builds the executable, and runs every test. `--tier` runs one tier and
 * only the steps that it needs: the unit tests need none. The last line is always `N passed, N failed`, alone; each
 * check and the build count as one test.
 */
async function main(): Promise<number> {
  const options = optionsIn(process.argv.slice(2))
  if (typeof options === 'string') {
    console.error(`${options}\n${usage}`)
    return 2
  }
  const stop = stopSignal()
  const isWhole = options.tiers.length === tierNames.length
  const checks = isWhole && [
    await step('types', ['tsc', '--noEmit'], stop),
    await step('format and lint', ['biome', 'check', '--error-on-warnings', '.'], stop),
  ]
  const needsExecutable = options.tiers.some((tier) => tier !== 'unit')
  const isBuilt = !needsExecutable || (await step('build', [process.execPath, 'scripts/build.ts'], stop))
  const tiers = isBuilt ? options.tiers : options.tiers.filter((tier) => tier === 'unit')
  const result = await runTests(root, { ...options, tiers, stop })
  if (stop.aborted) {
    console.error('The run was stopped.')
    return 143
  }
  const steps = [...(checks || []), ...(needsExecutable ? [isBuilt] : [])]
  const passed = steps.filter((ok) => ok).length
  if (!isBuilt) console.log('failed: the build; the service, ui and faults tests need the executable and did not run')
  for (const line of summaryLines(result, { passed, failed: steps.length - passed })) console.log(line)
  return isPassing(result) && passed === steps.length ? 0 : 1
}

/** Parses the command line; returns a message if it is invalid. */
function optionsIn(args: readonly string[]): Options | string {
  const options: Options = { tiers: tierNames, strict: false, words: [] }
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? ''
    if (word === '--strict') options.strict = true
    else if (word === '--tier') {
      at += 1
      const tier = args[at] ?? ''
      if (!isTierName(tier)) return `There is no tier "${tier}".`
      options.tiers = [tier]
    } else if (word.startsWith('-')) return `There is no option "${word}".`
    else options.words.push(word)
  }
  return options
}

/** Aborts when somebody stops the run: the commands that are running then end as well. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

/** Runs one command of the project. Returns whether it succeeded. */
async function step(name: string, [command = '', ...rest]: readonly string[], signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  console.log(`\n== ${name}`)
  // `bun scripts/test.ts` alone has no `node_modules/.bin` on the PATH.
  const file = command.includes('/') ? command : join(root, 'node_modules', '.bin', command)
  // Standard input may be closed, so it is not passed on.
  const stdio = ['ignore', 'inherit', 'inherit'] as const
  return (await Bun.spawn([file, ...rest], { cwd: root, stdio: [...stdio], signal }).exited) === 0
}

process.exit(await main())
