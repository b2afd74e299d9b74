import { writeFileSync } from 'node:fs'
import { AppError, messageOf } from '../../domain/errors.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import type { TestResult } from '../../engine/tests/suite.ts'
import { type Call, type Command, CommandError, type ExitCode, UsageError } from '../command.ts'
import { pathOf } from '../support/client.ts'
import { printableJson } from '../support/control-characters.ts'
import { clientOf } from '../support/service.ts'
import { connectorFiles } from '../support/workflow-files.ts'
import { junitXml } from '../testing/junit.ts'
import type { LocalTests } from '../testing/local-tests.ts'
import { countsOf, type FileReport, fileText, totalText } from '../testing/report.ts'
import {
  addTest,
  Folders,
  findTestFiles,
  type LoadedTests,
  loadTests,
  saveTests,
  testEnding,
} from '../testing/test-files.ts'

export const test: Command = {
  summary: 'tests workflows with mocked requests; exits with 1 if a test failed',
  details: [
    'Runs the tests in all *.test.json files of the paths, by default those below the current folder. It needs no',
    'service, and no request leaves the process: mocks in the test answer the requests of the workflow. A request that',
    'no mock answers fails the test. The tests of orders.json are in orders.test.json beside it.',
    'With --update, the outcome of a failed test becomes its expectation, and a test with an old name of a block gets',
    'the new name. Check the changes before you commit them.',
    'With --from-run, it asks the service for a test with the input, the answers and the outcome of a run in the log,',
    'and writes it to the file of --out. If that file has tests, the new one is added.',
  ].join('\n'),
  arguments: [{ name: 'PATH', description: 'a test file, or a folder', optional: true, many: true }],
  flags: {
    junit: { value: 'FILE', description: 'write the results as JUnit XML as well' },
    update: { description: 'rewrite the expectations of tests that failed' },
    'from-run': { value: 'EXECUTION_ID', description: 'make a test from a run on the service' },
    out: { value: 'FILE', description: 'the test file for --from-run' },
    name: { value: 'TEXT', description: 'the name of the test that --from-run makes' },
    connectors: {
      value: 'FILE',
      description: 'a connector as JSON, besides those of the service; may be repeated',
      many: true,
    },
  },
  settings: ['url', 'apiKey', 'modelPrices'],
  json: true,
  examples: [
    'test',
    'test workflows/ --junit results.xml',
    'test orders.test.json --json',
    'test --update',
    'test --from-run 0f1c2a52-6d7b-4a67-a3a5-2f6f3c1f1b6e --out workflows/orders.test.json',
  ],
  async run(call) {
    const executionId = call.flags['from-run']
    if (executionId !== undefined) return await makeFromRun(call, executionId)
    if (call.flags['out'] !== undefined) throw new UsageError('--out needs --from-run EXECUTION_ID.')
    const paths = call.arguments.length > 0 ? call.arguments : ['.']
    return await runTests(call, findTestFiles(paths))
  },
}

async function makeFromRun(call: Call, executionId: string): Promise<ExitCode> {
  const { out, name } = call.flags
  if (out === undefined) throw new UsageError('--from-run needs --out FILE, the file for the test.')
  if (!out.endsWith(testEnding)) throw new UsageError(`The name of the file must end in ${testEnding}: --out ${out}.`)
  const given = call.arguments.length > 0 || call.switches.has('update') || call.flags['junit'] !== undefined
  if (given)
    throw new UsageError('--from-run makes a test and does not run tests. Use it without PATH, --update and --junit.')
  const client = clientOf(call)
  const { workflowId } = await client.get<{ workflowId: string }>(pathOf`/api/v1/logs/executions/${executionId}`)
  const path = pathOf`/api/workflows/${workflowId}/tests/from-run`
  const wish = { executionId, save: false, ...(name === undefined ? {} : { name }) }
  const { test } = await client.post<{ test: WorkflowTest }>(path, wish)
  const added = addTest(out, test)
  if (call.json) call.terminal.print(printableJson({ file: out, test: added }))
  else call.terminal.print(`Wrote the test "${added.name}" to ${out}`)
  return 0
}

async function runTests(call: Call, files: readonly string[]): Promise<ExitCode> {
  const { terminal, json, switches, flags } = call
  const { LocalTests } = await import('../testing/local-tests.ts')
  const folders = new Folders()
  const tests = new LocalTests({ config: call.config, connectors: connectorFiles(call), folders })
  const since = performance.now()
  const reports: FileReport[] = []
  try {
    for (const file of files) {
      const report = await reportOf(tests, file, { folders, update: switches.has('update') })
      reports.push(report)
      if (!json) terminal.print(fileText(report))
    }
  } finally {
    await tests.stop()
  }
  const durationMs = performance.now() - since
  const counts = countsOf(reports)
  if (flags['junit'] !== undefined) write(flags['junit'], junitXml(reports, durationMs))
  if (json) terminal.print(printableJson({ ...counts, durationMs: Math.round(durationMs), files: reports }))
  else terminal.print(totalText(counts, durationMs))
  // After an update, only tests that it could not update count as failed.
  return counts.failed + counts.stale - counts.updated + counts.brokenFiles === 0 ? 0 : 1
}

/** Whether a test names a block for which nothing was proposed. */
function isStillStale({ status, renames, differences }: TestResult): boolean {
  return status === 'stale' && Object.keys(renames ?? {}).length < differences.length
}

type Wish = { folders: Folders; update: boolean }

async function reportOf(tests: LocalTests, file: string, { folders, update }: Wish): Promise<FileReport> {
  let loaded: LoadedTests | undefined
  try {
    loaded = loadTests(file, folders)
    const ran = await tests.run(loaded, update ? 'updates' : 'results')
    const updated = update ? ran.filter(({ next }) => next !== undefined) : []
    if (updated.length > 0)
      saveTests(
        loaded,
        ran.map(({ test, next }) => next ?? test),
      )
    return {
      ...{ file, workflow: loaded.workflow.document.name, error: null },
      results: ran.map(({ result }) => result),
      updated: updated.filter(({ result }) => !isStillStale(result)).map(({ test }) => test.name),
    }
  } catch (error) {
    const details = error instanceof AppError ? error.details : undefined
    const reason = details?.map(({ path, message }) => `${message} (${path})`).join('\n') || messageOf(error)
    return { file, workflow: loaded?.workflow.document.name ?? null, error: reason, results: [], updated: [] }
  }
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${messageOf(error)}`)
  }
}
