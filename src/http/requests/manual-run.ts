import { Type as t } from '@sinclair/typebox'
import { AppError, problemsError } from '../../domain/errors.ts'
import type { RunFile } from '../../domain/run/file.ts'
import type { ChatMessage } from '../../domain/run/input.ts'
import { isObject, readInput, setMember, type TriggerInput } from '../../domain/run/input.ts'
import { findValidationErrors } from '../../domain/workflow/shape.ts'
import type { TriggerKind } from '../../domain/workflow/workflow.ts'
import type { Plan, PlanTrigger } from '../../engine/compile/plan.ts'
import type { PreviousRun } from '../../engine/manual/previous-run.ts'

const Iterations = t.Optional(
  t.Array(t.Integer({ minimum: 0 }), {
    maxItems: 100,
    description:
      'The iteration of each loop and parallel around the block, outermost first. When absent: the first iteration in ' +
      'which the block ran, and every branch of a parallel.',
  }),
)
const blockId = t.String({ minLength: 1 })

// Listed one by one: the editor's client could not infer the type of a mapped list.
const Trigger = t.Union([
  t.Literal('api'),
  t.Literal('webhook'),
  t.Literal('schedule'),
  t.Literal('manual'),
  t.Literal('chat'),
])

/** The request for a manual run. */
export const NewManualRun = t.Object({
  trigger: t.Optional(Trigger),
  input: t.Optional(
    t.Unknown({
      description: 'The input of the trigger. Absent fields take the `value` column of the input format.',
    }),
  ),
  version: t.Optional(t.Integer({ minimum: 1, description: 'Runs a deployed version instead of the draft.' })),
  from: t.Optional(
    t.Object(
      { executionId: t.String({ minLength: 1 }), blockId, iterations: Iterations },
      { description: 'Runs this block and the blocks after it again; everything else comes from this earlier run.' },
    ),
  ),
  until: t.Optional(
    t.String({ minLength: 1, description: 'The run ends with this block. Blocks that it does not need are skipped.' }),
  ),
  only: t.Optional(
    t.Object(
      { blockId, executionId: t.Optional(t.String({ minLength: 1 })), iterations: Iterations },
      { description: 'Runs this block alone, with the outputs of the others from this earlier run.' },
    ),
  ),
})

/** The trigger of a manual run: the manual trigger, otherwise the API trigger, otherwise any other. */
export function chooseTrigger(
  plan: Plan,
  wanted: TriggerKind | undefined,
  previous: PreviousRun | undefined,
): PlanTrigger | undefined {
  if (wanted !== undefined) {
    const trigger = plan.triggers.get(wanted)
    if (trigger) return trigger
    const message = `The workflow has no ${wanted} trigger that is enabled.`
    throw new AppError('INVALID_INPUT', message, { details: [{ path: 'trigger', message }] })
  }
  const all = [...plan.triggers.values()]
  const before = all.find(({ node }) => previous?.span(node.id, [])?.status === 'success')
  return before ?? plan.triggers.get('manual') ?? plan.triggers.get('api') ?? all[0]
}

/** The input of a manual run's trigger. Throws `INVALID_INPUT` when it does not match the input format. */
export function manualInput({ node, format }: PlanTrigger, given: unknown, now: number): TriggerInput {
  const sent = given === undefined ? {} : isObject(given) ? given : { input: given }
  const at = new Date(now).toISOString()
  switch (node.definition.starts) {
    case 'webhook': {
      const isRequest = Object.keys(sent).every((name) => Object.hasOwn(noRequest, name))
      const request = isRequest ? { ...noRequest, ...sent } : { ...noRequest, body: given }
      return { input: request, fields: request }
    }
    case 'schedule': {
      const times = { dueAt: at, firedAt: at, ...sent }
      return { input: times, fields: times }
    }
    case 'chat': {
      const message = { input: '', conversationId: null, history: [], files: [], ...sent }
      return { input: message, fields: message, ...historyIn(message) }
    }
    default: {
      const reading = readInput(sent, format, { samples: true })
      if (reading.ok) return reading.value
      const details = reading.details.map(({ path, message }) => ({ path: `input.${path}`, message }))
      throw problemsError('INVALID_INPUT', details)
    }
  }
}

const noRequest = { body: null, headers: {}, query: {}, method: 'POST' }

/**
 * The input that the trigger had in an earlier run. `runsAgain`: the trigger itself runs again with it. Throws
 * `CONFLICT` when the log does not have the complete input.
 */
export function previousInput(
  { node }: PlanTrigger,
  previous: PreviousRun,
  { files, runsAgain }: { files: readonly RunFile[]; runsAgain: boolean },
): TriggerInput {
  const span = previous.span(node.id, [])
  const damage = runsAgain && span ? previous.damageOf(span) : undefined
  if (damage !== undefined) {
    const message = `The input of that run cannot be used again: ${damage}. Provide an input, or start a new run.`
    throw new AppError('CONFLICT', message, { details: [{ path: node.id, message }] })
  }
  const outputs = span?.output
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(isObject(outputs) ? outputs : {})) {
    if (name !== 'input' || !isObject(value)) setMember(fields, name, value)
  }
  const whole = isObject(previous.root.input) ? previous.root.input : {}
  const history = node.definition.starts === 'chat' ? historyIn(fields) : {}
  return { input: whole, fields, ...history, ...(files.length > 0 ? { files } : {}) }
}

/** The chat history that agents receive in a manual run. */
function historyIn({ history }: Record<string, unknown>): Pick<TriggerInput, 'history'> {
  return findValidationErrors(ChatHistory, history).length === 0 ? { history: history as ChatMessage[] } : {}
}

const ChatHistory = t.Array(
  t.Object({ role: t.Union([t.Literal('user'), t.Literal('assistant')]), content: t.String() }),
)
