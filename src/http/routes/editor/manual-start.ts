import type { Static } from '@sinclair/typebox'
import { AppError } from '../../../domain/errors.ts'
import { newExecutionId } from '../../../domain/ids.ts'
import type { RunFile } from '../../../domain/run/file.ts'
import type { TriggerInput } from '../../../domain/run/input.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import { readTrace } from '../../../domain/run/trace.ts'
import { largeBytes } from '../../../domain/slices.ts'
import type { Finding, WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { Outputs } from '../../../engine/block.ts'
import type { Plan, PlanTrigger } from '../../../engine/compile/plan.ts'
import { planPartial } from '../../../engine/manual/partial-plan.ts'
import { PinnedOutputs } from '../../../engine/manual/pinned-outputs.ts'
import { PreviousRun } from '../../../engine/manual/previous-run.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import {
  chooseTrigger,
  manualInput,
  type NewManualRun,
  outputsAsInput,
  previousInput,
  triggerLike,
  triggerSample,
} from '../../requests/manual-run.ts'
import type { TakenRequest } from '../../requests/taken-request.ts'
import { findingsError } from '../../responses/findings-error.ts'
import type { Services } from '../../services.ts'

export type StartManualRun = (
  workflow: WorkflowRow,
  body: Static<typeof NewManualRun>,
  more?: ManualStartOptions,
) => Promise<{ executionId: string; findings: readonly Finding[]; ending: Promise<RunEnd | undefined> }>

export type ManualStartOptions = {
  /** The test request that the trigger starts with. */
  taken?: TakenRequest | undefined
  /** The ID of the run, if the caller needs it before the run starts. */
  executionId?: string | undefined
  observer?: RunObserver | undefined
  /** Pins of this run only, by block ID. They take precedence over those of the draft. */
  pins?: ReadonlyMap<string, Outputs> | undefined
}

/** Starts manual runs: of a draft or a version, whole or in part, with a given input or that of an earlier run. */
export function createManualStart({ store, clock, manual, pins, files, settings, secrets }: Services): StartManualRun {
  return async (workflow, body, { taken, observer, pins: own, executionId = newExecutionId() } = {}) => {
    const { id, workspaceId } = workflow
    const previous = await findPreviousRun((body.again ?? body.from ?? body.only)?.executionId, workflow)
    const { document, ran } = await chosenDocument(workflow, body.version, previous)
    const through = [body.from?.blockId, body.until].filter((id) => id !== undefined)
    const reach = body.only ? { only: body.only.blockId } : { trigger: body.trigger, through }
    const { plan, findings } = await manual.compile(document, workspaceId, reach)
    if (!plan) throw findingsError(findings, 'run')
    const isPart = body.from !== undefined || body.until !== undefined || body.only !== undefined
    const trigger = triggerOf(plan, body, previous)
    const samples = body.only && new Map(Array.from(plan.triggers.values(), samplesOf))
    if (samples && taken && trigger) samples.set(trigger.node.id, taken.shown)
    // Only the present draft uses pins: a version, or the draft of an earlier run, runs as it did then.
    const kept = ran === undefined ? await pins.of(workflow) : undefined
    const pinned = own && ran === undefined ? (kept ?? new PinnedOutputs(new Map())).replaced(own, new Set()) : kept
    // An input that the author chose for this run replaces the pin of the trigger.
    const isInputChosen = body.input !== undefined || body.again !== undefined || taken !== undefined
    const used = isInputChosen && trigger ? pinned?.without(trigger.node.id) : pinned
    const partial = isPart || used ? planPartial(plan, body, previous?.run, { samples, pins: used }) : undefined
    if (!trigger && !body.only) throw withoutTrigger()
    const owner = { workspaceId, workflowId: id, executionId }
    const runsAgain = body.again !== undefined || (body.from ?? body.only)?.blockId === trigger?.node.id
    const isAlone = body.only !== undefined
    const pin = trigger && used?.recorded(trigger.node)
    const input = taken
      ? await taken.inputFor(owner)
      : pin
        ? outputsAsInput(pin.span.output)
        : await inputOf({ trigger, given: body.input, previous, owner, runsAgain, isAlone })
    let ending: Promise<RunEnd | undefined>
    try {
      const version = ran ?? (await store.keepDraft(id, await secrets.sealed(document, workspaceId)))
      const facts = { plan, workflowId: id, workspaceId, version, trigger: 'manual' as const, input, executionId }
      const source = body.again && { source: 'rerun' as const }
      ;({ ending } = manual.start({
        ...facts,
        ...source,
        ...(trigger && { entry: trigger.node }),
        ...(partial && { partial }),
        ...(observer && { observer }),
      }))
    } catch (error) {
      // The run has not started, so nothing else uses its files.
      if (input.files) await manual.removeFiles(owner).catch(() => undefined)
      throw error
    }
    return { executionId, findings, ending }
  }

  /** `ran`: the number under which the store already has the document; undefined for the present draft. */
  async function chosenDocument(
    { id, document, activeVersion }: WorkflowRow,
    wanted: Static<typeof NewManualRun>['version'],
    previous: Previous | undefined,
  ): Promise<{ document: WorkflowDocument; ran: number | undefined }> {
    if (wanted === undefined || wanted === 'draft') return { document, ran: undefined }
    if (wanted === 'live' && activeVersion === null) {
      throw new AppError('WORKFLOW_NOT_DEPLOYED', 'No version of the workflow is live. Deploy it, or choose the draft.')
    }
    if (wanted === 'ran' && !previous) {
      const message = 'The version "ran" needs an earlier run. Name it in "again", "from" or "only".'
      throw new AppError('INVALID_INPUT', message, { details: [{ path: 'version', message }] })
    }
    const ran = wanted === 'live' ? activeVersion! : wanted === 'ran' ? previous!.version : wanted
    const found = await store.getDocument(id, ran)
    if (found) return { document: found, ran }
    const kept = 'The draft that ran is no longer kept: only the latest hundred are. Choose another version.'
    throw new AppError('NOT_FOUND', ran < 0 ? kept : `The workflow has no version ${ran}.`)
  }

  /** An earlier run of the workflow: unredacted while it is in memory, otherwise from the log. */
  async function findPreviousRun(
    executionId: string | undefined,
    { id, workspaceId }: WorkflowRow,
  ): Promise<Previous | undefined> {
    if (executionId === undefined) return undefined
    const hidden = await manual.secretsOf(workspaceId)
    const whole = manual.find(executionId)
    if (whole?.workflowId === id) {
      const run = new PreviousRun(whole.root, { secrets: hidden, isWhole: true })
      return { run, files: whole.files ?? [], version: whole.version }
    }
    const row = await store.getExecution(executionId)
    if (row?.workflowId !== id) throw new AppError('NOT_FOUND', `The workflow has no run ${executionId} in the log.`)
    const written = row.files === null ? [] : [row.files]
    const [trace, fileText] = await Promise.all([
      files.freshen(row.traceSpans, written),
      files.freshen(row.files ?? '[]', written),
    ])
    // A trace may have 30 MB, which takes 150 ms to parse.
    const { turns } = settings.bodyWithFiles
    const root = trace.length > largeBytes ? await turns.run(() => readTrace(trace)) : readTrace(trace)
    const run = new PreviousRun(root, { secrets: hidden, isWhole: false })
    return { run, files: JSON.parse(fileText) as RunFile[], version: row.version }
  }

  /** The outputs of a trigger, as far as samples are known. */
  function samplesOf(trigger: PlanTrigger): [string, Record<string, unknown>] {
    const fields = triggerSample(trigger, clock.now())
    const hasInput = trigger.node.definition.outputs.includes('input') && Object.keys(fields).length > 0
    return [trigger.node.id, hasInput ? { ...fields, input: fields } : fields]
  }

  async function inputOf({ trigger, given, previous, owner, runsAgain, isAlone }: Wanted): Promise<TriggerInput> {
    if (!trigger) return { input: {}, fields: {} }
    if (previous && given === undefined) {
      const span = previous.run.span(trigger.node.id, []) ?? (runsAgain ? previous.run.trigger : undefined)
      if (span) return previousInput(trigger, previous.run, { files: previous.files, runsAgain, span })
    }
    if (isAlone && given === undefined) {
      const fields = triggerSample(trigger, clock.now())
      return { input: fields, fields }
    }
    if (trigger.fileFields.length === 0) return manualInput(trigger, given, clock.now())
    // The size was checked when it was read. Written again it may be longer, for example 1e20.
    const portions = portionsOf(JSON.stringify(given ?? {}))
    const { bytes, files: fileLimit } = settings.bodyWithFiles
    const limits = { text: { ...bytes, max: Number.POSITIVE_INFINITY }, files: fileLimit }
    const upload = await manual.receiveFiles(portions, trigger.fileFields, limits)
    try {
      const input = manualInput(trigger, JSON.parse(upload.text), clock.now())
      upload.check(input)
      return await upload.store(input, owner)
    } finally {
      await upload.discard()
    }
  }
}

/** `version`: as the store numbers it; below 0 for a draft. */
type Previous = { run: PreviousRun; files: readonly RunFile[]; version: number }

type Wanted = {
  trigger: PlanTrigger | undefined
  given: unknown
  previous: Previous | undefined
  /** Whether the trigger itself runs again. */
  runsAgain: boolean
  /** Whether one block runs alone. It does not need the trigger's required fields. */
  isAlone: boolean
  owner: { workspaceId: string; workflowId: string; executionId: string }
}

function triggerOf(
  plan: Plan,
  { again, trigger }: Static<typeof NewManualRun>,
  previous: Previous | undefined,
): PlanTrigger | undefined {
  if (again && previous && trigger === undefined) return triggerLike(plan, previous.run)
  return chooseTrigger(plan, trigger, previous?.run)
}

async function* portionsOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

function withoutTrigger(): AppError {
  const message = 'The workflow cannot run: it has no enabled trigger. Add one.'
  return new AppError('INVALID_INPUT', message, { details: [{ path: 'blocks', message }] })
}
