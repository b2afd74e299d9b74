import { type ErrorDetail, problemsError } from '../../domain/errors.ts'
import { inputOf, isObject, readInput, type TriggerInput } from '../../domain/run/input.ts'
import type { Plan, PlanTrigger } from '../../engine/compile/plan.ts'
import { type AgentEvents, acceptsAgentEvents } from './agent-events.ts'
import { readSelection, type SelectedOutput, selectedOutputsMax } from './selected-outputs.ts'

/** The content of a request body. */
export type ExecuteBody = {
  input: TriggerInput
  /** The selected outputs of a streamed response; undefined when the response is not streamed. */
  stream: readonly SelectedOutput[] | undefined
  /** The messages about agents that a stream has; undefined for a caller that does not know them. */
  events: AgentEvents | undefined
}

/** Reads a body and checks it against the input format. Throws `INVALID_INPUT` with every error. */
export function readExecuteBody(call: {
  body: unknown
  trigger: PlanTrigger
  plan: Plan
  isAsync: boolean
  request: Pick<Request, 'headers'>
}): ExecuteBody {
  const { trigger, request } = call
  const events = acceptsAgentEvents(request.headers) ? eventsIn(call.body) : undefined
  const body = events ? withoutEvents(call.body) : call.body
  const control = isObject(body) ? readControl(body, call) : noControl
  const reading = readInput(inputOf(body, trigger.format), trigger.format)
  if (reading.ok && control.problems.length === 0) return { input: reading.value, stream: control.stream, events }
  const details = reading.ok ? control.problems : [...control.problems, ...reading.details]
  throw problemsError('INVALID_INPUT', details)
}

/** These members control the response only if the caller knows the messages. Otherwise, they are part of the input. */
function eventsIn(body: unknown): AgentEvents {
  const { includeThinking, includeToolCalls } = isObject(body) ? body : {}
  return { thinking: includeThinking === true, toolCalls: includeToolCalls === true }
}

function withoutEvents(body: unknown): unknown {
  if (!isObject(body)) return body
  const { includeThinking: _thinking, includeToolCalls: _toolCalls, ...rest } = body
  return rest
}

export type Control = { stream: readonly SelectedOutput[] | undefined; problems: readonly ErrorDetail[] }
const noControl: Control = { stream: undefined, problems: [] }

/** Reads the members that control the response: `stream` and `selectedOutputs`. */
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
    const message = 'An asynchronous run cannot be streamed. Omit "stream" or X-Execution-Mode.'
    problems.push({ path: 'stream', message })
  }
  const isList = Array.isArray(selectedOutputs) && selectedOutputs.every((entry) => typeof entry === 'string')
  if (selectedOutputs !== undefined && !isList) {
    problems.push({ path: 'selectedOutputs', message: '"selectedOutputs" must be an array of strings.' })
  }
  const isShort = isList && selectedOutputs.length <= selectedOutputsMax
  if (isList && !isShort) {
    const message = `"selectedOutputs" can have at most ${selectedOutputsMax} entries, not ${selectedOutputs.length}.`
    problems.push({ path: 'selectedOutputs', message })
  }
  const selection = readSelection(isShort ? selectedOutputs : [], plan)
  problems.push(...selection.problems)
  return { stream: stream === true ? selection.selected : undefined, problems }
}
