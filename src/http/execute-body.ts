import { AppError, type ErrorDetail } from '../domain/errors.ts'
import { inputOf, isObject, readInput, type TriggerInput } from '../domain/run/input.ts'
import type { Plan, PlanTrigger } from '../engine/compile/plan.ts'
import { readSelection, type SelectedOutput } from './selected-outputs.ts'

/** What a body asks for. */
export type ExecuteBody = {
  input: TriggerInput
  /** What is selected, for a response that is streamed; undefined for one that is not. */
  stream: readonly SelectedOutput[] | undefined
}

/** Reads a body against the input format; throws `INVALID_INPUT` with all that is wrong. */
export function readExecuteBody(call: {
  body: unknown
  trigger: PlanTrigger
  plan: Plan
  isAsync: boolean
}): ExecuteBody {
  const { body, trigger } = call
  const control = isObject(body) ? readControl(body, call) : noControl
  const reading = readInput(inputOf(body, trigger.format), trigger.format)
  if (reading.ok && control.problems.length === 0) return { input: reading.value, stream: control.stream }
  const details = reading.ok ? control.problems : [...control.problems, ...reading.details]
  throw new AppError('INVALID_INPUT', details.map(({ message }) => message).join(' '), { details })
}

export type Control = { stream: readonly SelectedOutput[] | undefined; problems: readonly ErrorDetail[] }
const noControl: Control = { stream: undefined, problems: [] }

/** The members of a request that steer its response. */
export function readControl(
  body: Record<string, unknown>,
  { plan, isAsync }: { plan: Plan; isAsync: boolean },
): Control {
  const { stream, selectedOutputs } = body
  if (stream === undefined && selectedOutputs === undefined) return noControl
  const problems: ErrorDetail[] = []
  if (stream !== undefined && typeof stream !== 'boolean') {
    problems.push({ path: 'stream', message: '"stream" must be true or false.' })
  } else if (stream === true && isAsync) {
    const message = 'An asynchronous run has nobody to stream to: leave out "stream", or X-Execution-Mode.'
    problems.push({ path: 'stream', message })
  }
  const isList = Array.isArray(selectedOutputs) && selectedOutputs.every((entry) => typeof entry === 'string')
  if (selectedOutputs !== undefined && !isList) {
    problems.push({ path: 'selectedOutputs', message: '"selectedOutputs" must be an array of strings.' })
  }
  const selection = readSelection(isList ? selectedOutputs : [], plan)
  problems.push(...selection.problems)
  return { stream: stream === true ? selection.selected : undefined, problems }
}
