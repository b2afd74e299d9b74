import { AppError } from '../domain/errors.ts'
import { readTrace } from '../domain/run/trace.ts'
import { type StartKind, startKinds } from '../domain/workflow/workflow.ts'
import { testsBytesMax } from '../domain/workflow/workflow-test.ts'
import type { Deployments } from '../engine/deployments.ts'
import type { DocumentSecrets } from '../engine/document-secrets.ts'
import type { Pins } from '../engine/manual/pins.ts'
import type { RunnerOptions } from '../engine/run/runner-options.ts'
import type { RecordedRun } from '../engine/tests/test-from-run.ts'
import { TestRunner } from '../engine/tests/test-runner.ts'
import { WorkflowTests } from '../engine/tests/workflow-tests.ts'
import { chooseTrigger, manualInput } from '../http/requests/manual-run.ts'
import type { Store } from '../store/store.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'

type Options = Base & {
  accounts: Accounts
  deployments: Deployments
  secrets: DocumentSecrets
  capabilities: RunnerOptions['capabilities']
  pins: Pins
}

/** Tests of workflows. They use the sandbox and connectors of the service, but send no requests and record nothing. */
export function assembleWorkflowTests(options: Options): WorkflowTests {
  const { accounts, deployments, secrets, capabilities, pins, store, clock, slices, limits, config } = options
  const { environments } = accounts
  const { priceOf, inSlices, connector, runProgram, doFormatWork, models } = capabilities
  const runner = new TestRunner({
    ...{ limits, priceOf, inSlices, runProgram, checkJson: models.checkJson },
    ...(connector && { connector }),
    ...(doFormatWork && { doFormatWork }),
    deploymentOf: (workflowId, version) =>
      version === undefined ? deployments.load(workflowId) : deployments.loadVersion(workflowId, version),
    startOf(plan, test, now) {
      const trigger = chooseTrigger(plan, test.trigger, undefined)
      if (!trigger) throw new AppError('INVALID_INPUT', 'The workflow has no enabled trigger. Add one.')
      return { trigger, input: manualInput(trigger, test.input, now) }
    },
  })
  return new WorkflowTests({
    get: (workflowId) => store.getTests(workflowId),
    set: (workflowId, saved) => store.setTests(workflowId, saved),
    environmentOf: environments.of,
    async compile(document, workspaceId, trigger) {
      const opened = await secrets.opened(document, workspaceId)
      const compiled = await deployments.checkReachable(opened, workspaceId, { trigger, through: [] })
      environments.hide(workspaceId, compiled.plan?.writtenSecrets ?? [])
      return compiled
    },
    pinsOf: (draft) => pins.of(draft),
    recordedRun: (workflowId, executionId) => recordedRun(store, workflowId, executionId),
    ...{ runner, clock, inSlices: slices.run, shareFactor: config.shareFactor },
  })
}

async function recordedRun(
  store: Pick<Store, 'getExecution'>,
  workflowId: string,
  executionId: string,
): Promise<RecordedRun | undefined> {
  const row = await store.getExecution(executionId)
  if (row?.workflowId !== workflowId) return undefined
  const { traceSpans, finalOutput, level, startedAt } = row
  if (traceSpans.length + finalOutput.length > testsBytesMax) {
    throw new AppError('CONFLICT', `The trace of this run has more than ${testsBytesMax} bytes, too many for a test.`)
  }
  if (row.partial) throw new AppError('CONFLICT', 'Only a part of the workflow ran. Make a test from a whole run.')
  const root = readTrace(traceSpans)
  const start = root.children.find(({ type, status }) => kindOf(type) !== undefined && status === 'success')
  const trigger = start && kindOf(start.type)
  if (!trigger) throw new AppError('CONFLICT', 'The run ended before its trigger did, so a test cannot repeat it.')
  return { root, output: JSON.parse(finalOutput), success: level === 'info', trigger, startedAt }
}

/** The kind of run that a block type starts. */
function kindOf(type: string): StartKind | undefined {
  return startKinds.find((kind) => type === kind || type === `${kind}_trigger`)
}
