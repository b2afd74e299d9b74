import { type ErrorDetail, problemsError, problemsMax } from '../../../domain/errors.ts'
import { isObject, readInput, type TriggerInput } from '../../../domain/run/input.ts'
import type { Plan, PlanTrigger } from '../../../engine/compile/plan.ts'
import { type AgentEvents, acceptsAgentEvents, agentEventsHeader, agentEventsProtocol } from '../agent-events.ts'
import { readSelection, type SelectedOutput, selectedOutputsMax } from '../selected-outputs.ts'

/** The content of a request body of `POST /api/v2/workflows/<id>/execute`. */
export type ExecuteBodyV2 = {
  input: TriggerInput
  stream: readonly SelectedOutput[] | undefined
  selected: readonly SelectedOutput[]
  runId: string | undefined
  events: AgentEvents | undefined
}

/** Reads a body and its headers. Throws `INVALID_INPUT` with every mistake. */
export function readExecuteBodyV2(content: {
  request: Request
  body: unknown
  trigger: PlanTrigger
  plan: Plan
}): ExecuteBodyV2 {
  const { request, trigger, plan } = content
  const runId = request.headers.get('x-run-id') ?? undefined
  const body = isObject(content.body) ? content.body : {}
  const problems: ErrorDetail[] = isObject(content.body) ? [] : [{ path: '', message: 'The body must be an object.' }]
  if (runId !== undefined && !runIdPattern.test(runId)) problems.push({ path: 'x-run-id', message: runIdText })
  problems.push(...mistakesIn(body))
  // Most bodies have only an input.
  if (hasMore(body)) problems.push(...combinationsIn(body, request.headers))
  const asked = body as Members
  const wanted = problems.length === 0 ? (asked.selectedOutputs ?? []) : []
  const selection = wanted.length > 0 ? readSelection(wanted, plan) : nothingSelected
  problems.push(...selection.problems)
  const input = isObject(body['input']) ? body['input'] : {}
  const reading = readInput(input, trigger.format)
  if (!reading.ok) problems.push(...reading.details.map((each) => ({ ...each, path: `input.${each.path}` })))
  if (!reading.ok || problems.length > 0) throw problemsError('INVALID_INPUT', problems)
  const { stream, executionTimeoutSeconds: seconds, includeThinking = false, includeToolCalls = false } = asked
  return {
    input: seconds === undefined ? reading.value : { ...reading.value, timeoutMs: seconds * 1_000 },
    stream: stream === true ? selection.selected : undefined,
    selected: stream === true ? [] : selection.selected,
    runId,
    events: acceptsAgentEvents(request.headers)
      ? { thinking: includeThinking, toolCalls: includeToolCalls }
      : undefined,
  }
}

/** Names of folders and objects contain the ID, so it has only these characters. */
const runIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const runIdText =
  'X-Run-Id must begin with a letter or digit and have at most 128 letters, digits, dots, underscores and hyphens.'

const timeoutMaxS = 604_800
const base64Max = 16_777_216

type Members = {
  async?: boolean
  stream?: boolean
  selectedOutputs?: string[]
  executionTimeoutSeconds?: number
  includeThinking?: boolean
  includeToolCalls?: boolean
}

type Check = { holds(value: unknown): boolean; text: string }
const flag: Check = { holds: (value) => typeof value === 'boolean', text: 'true or false' }
const whole = (max: number): Check => ({
  holds: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max,
  text: `a whole number from 1 to ${max}`,
})

/** The members of a body. */
const members: ReadonlyMap<string, Check> = new Map<string, Check>(
  Object.entries({
    input: { holds: isObject, text: 'an object' },
    async: flag,
    stream: flag,
    selectedOutputs: {
      holds: (value) =>
        Array.isArray(value) && value.length <= selectedOutputsMax && value.every((each) => typeof each === 'string'),
      text: `an array of at most ${selectedOutputsMax} strings`,
    },
    executionTimeoutSeconds: whole(timeoutMaxS),
    includeThinking: flag,
    includeToolCalls: flag,
    includeFileBase64: {
      holds: (value) => value === false,
      text: 'false. Each file in an output has a signed url for its download',
    },
    base64MaxBytes: whole(base64Max),
  }),
)

const nothingSelected: ReturnType<typeof readSelection> = { selected: [], problems: [] }

function mistakesIn(body: Record<string, unknown>): ErrorDetail[] {
  const mistakes: ErrorDetail[] = []
  // A body may have a million members, so it is not listed first.
  for (const name in body) {
    const value = body[name]
    const check = members.get(name)
    if (!check)
      mistakes.push({
        path: name,
        message: `The body cannot have the member "${name}". Put the input of the run in "input".`,
      })
    else if (value !== undefined && !check.holds(value)) {
      mistakes.push({ path: name, message: `"${name}" must be ${check.text}.` })
    }
    if (mistakes.length >= problemsMax) break
  }
  return mistakes
}

function hasMore(body: Record<string, unknown>): boolean {
  for (const name in body) if (name !== 'input') return true
  return false
}

/** Members that exclude each other. */
function combinationsIn(body: Record<string, unknown>, headers: Headers): ErrorDetail[] {
  const isAsync = body['async'] === true
  const isStreamed = body['stream'] === true
  const mistakes: ErrorDetail[] = []
  const refuse = (path: string, message: string) => mistakes.push({ path, message })
  if (isAsync && isStreamed) refuse('stream', 'An asynchronous run cannot be streamed. Omit "async" or "stream".')
  if (!isAsync && body['executionTimeoutSeconds'] !== undefined) {
    refuse('executionTimeoutSeconds', '"executionTimeoutSeconds" requires "async": true.')
  }
  if (isAsync) {
    const shaping = ['selectedOutputs', 'includeThinking', 'includeToolCalls', 'includeFileBase64', 'base64MaxBytes']
    for (const name of shaping.filter((each) => isSet(body[each]))) {
      refuse(name, `"${name}" cannot be combined with "async": an asynchronous run has no output yet.`)
    }
  }
  for (const name of ['includeThinking', 'includeToolCalls'].filter((each) => body[each] === true)) {
    if (!isStreamed) refuse(name, `"${name}" needs "stream": true.`)
    else if (!acceptsAgentEvents(headers)) {
      refuse(name, `"${name}" needs the header ${agentEventsHeader}: ${agentEventsProtocol}.`)
    }
  }
  return mistakes
}

/** Whether a member has a value other than false and empty. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
}
