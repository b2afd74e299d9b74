import { Type as t } from '@sinclair/typebox'
import { AppError } from '../domain/errors.ts'
import type { RunFile } from '../domain/run/file.ts'
import { isObject, put, readInput, type TriggerInput } from '../domain/run/input.ts'
import type { ChatMessage } from '../domain/workflow/chat.ts'
import { findMisfits } from '../domain/workflow/shape.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'
import type { Plan, PlanTrigger } from '../engine/compile/plan.ts'
import type { PreviousRun } from '../engine/manual/previous-run.ts'

const Iterations = t.Optional(
  t.Array(t.Integer({ minimum: 0 }), {
    maxItems: 100,
    description:
      'The iteration of each loop and parallel around the block, the outermost first. Absent: the first in which the ' +
      'block ran, and every branch of a parallel.',
  }),
)
const blockId = t.String({ minLength: 1 })

// One by one: of a mapped list the editor's client would know no type.
const Trigger = t.Union([
  t.Literal('api'),
  t.Literal('webhook'),
  t.Literal('schedule'),
  t.Literal('manual'),
  t.Literal('chat'),
])

/** What is to be run by hand. */
export const NewManualRun = t.Object({
  trigger: t.Optional(Trigger),
  input: t.Optional(
    t.Unknown({
      description: "What the trigger is given. Fields that are absent have the value of the format's column.",
    }),
  ),
  version: t.Optional(t.Integer({ minimum: 1, description: 'A deployed version in the place of the draft.' })),
  from: t.Optional(
    t.Object(
      { executionId: t.String({ minLength: 1 }), blockId, iterations: Iterations },
      { description: 'This block and what comes behind it run again; all else is taken from this earlier run.' },
    ),
  ),
  until: t.Optional(
    t.String({ minLength: 1, description: 'The run ends with this block. What it does not need is left out.' }),
  ),
  only: t.Optional(
    t.Object(
      { blockId, executionId: t.Optional(t.String({ minLength: 1 })), iterations: Iterations },
      { description: 'This block alone runs, with what the others gave in this earlier run.' },
    ),
  ),
})

/** Where a run by hand begins: the manual trigger, else the API trigger, else whatever there is. */
export function chooseTrigger(
  plan: Plan,
  wanted: TriggerKind | undefined,
  past: PreviousRun | undefined,
): PlanTrigger | undefined {
  if (wanted !== undefined) {
    const trigger = plan.triggers.get(wanted)
    if (trigger) return trigger
    const message = `The workflow has no ${wanted} trigger that is enabled.`
    throw new AppError('INVALID_INPUT', message, { details: [{ path: 'trigger', message }] })
  }
  const all = [...plan.triggers.values()]
  const before = all.find(({ node }) => past?.span(node.id, [])?.status === 'success')
  return before ?? plan.triggers.get('manual') ?? plan.triggers.get('api') ?? all[0]
}

/** What the trigger of a run by hand is given. Throws `INVALID_INPUT` for what does not fit the format. */
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
      throw new AppError('INVALID_INPUT', details.map(({ message }) => message).join(' '), { details })
    }
  }
}

const noRequest = { body: null, headers: {}, query: {}, method: 'POST' }

/**
 * What the trigger was given in an earlier run. `runsAgain`: the trigger itself does, with that. Throws `CONFLICT` when it
 * cannot, because the log does not have all of it.
 */
export function pastInput(
  { node }: PlanTrigger,
  past: PreviousRun,
  { files, runsAgain }: { files: readonly RunFile[]; runsAgain: boolean },
): TriggerInput {
  const span = past.span(node.id, [])
  const damage = runsAgain && span ? past.damageOf(span) : undefined
  if (damage !== undefined) {
    const message = `What that run was started with cannot be used again: ${damage}. Give an input, or run it anew.`
    throw new AppError('CONFLICT', message, { details: [{ path: node.id, message }] })
  }
  const outputs = span?.output
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(isObject(outputs) ? outputs : {})) {
    if (name !== 'input' || !isObject(value)) put(fields, name, value)
  }
  const whole = isObject(past.root.input) ? past.root.input : {}
  const history = node.definition.starts === 'chat' ? historyIn(fields) : {}
  return { input: whole, fields, ...history, ...(files.length > 0 ? { files } : {}) }
}

/** What agents are told of a chat that was tried by hand, or is run again. */
function historyIn({ history }: Record<string, unknown>): Pick<TriggerInput, 'history'> {
  return findMisfits(ChatHistory, history).length === 0 ? { history: history as ChatMessage[] } : {}
}

const ChatHistory = t.Array(
  t.Object({ role: t.Union([t.Literal('user'), t.Literal('assistant')]), content: t.String() }),
)
