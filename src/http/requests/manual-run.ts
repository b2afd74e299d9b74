import { Type as t } from '@sinclair/typebox'
import { AppError, type ErrorDetail, problemsError } from '../../domain/errors.ts'
import { recordOf } from '../../domain/record-of.ts'
import type { RunFile } from '../../domain/run/file.ts'
import type { ChatMessage } from '../../domain/run/input.ts'
import { isObject, readInput, setMember, type TriggerInput } from '../../domain/run/input.ts'
import type { Span } from '../../domain/run/log.ts'
import type { FormField } from '../../domain/workflow/form.ts'
import { readForm } from '../../domain/workflow/form-values.ts'
import { findValidationErrors } from '../../domain/workflow/shape.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
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
  t.Literal('form'),
  t.Literal('poll'),
  t.Literal('rss'),
  t.Literal('event'),
  t.Literal('email'),
])

/** The request for a manual run. */
export const NewManualRun = t.Object({
  trigger: t.Optional(Trigger),
  input: t.Optional(
    t.Unknown({
      description: 'The input of the trigger. Absent fields take the `value` column of the input format.',
    }),
  ),
  listened: t.Optional(
    t.String({
      minLength: 1,
      description: 'The token of a listener: its test request or message is the input of the trigger.',
    }),
  ),
  version: t.Optional(
    t.Union([t.Integer({ minimum: 1 }), t.Literal('ran'), t.Literal('live'), t.Literal('draft')], {
      description:
        'Runs a deployed version instead of the draft: its number, `live` for the active one, or `ran` for the one that ' +
        'the earlier run in `again`, `from` or `only` used, which may have been a draft.',
    }),
  ),
  again: t.Optional(
    t.Object(
      { executionId: t.String({ minLength: 1 }) },
      { description: 'Runs the whole workflow with the input of this earlier run. `input` replaces that input.' },
    ),
  ),
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
      {
        blockId,
        executionId: t.Optional(t.String({ minLength: 1 })),
        iterations: Iterations,
        values: t.Optional(
          recordOf(t.Unknown(), {
            description: 'Values for references of the block, by reference as written, such as `<order.data.id>`.',
          }),
        ),
      },
      {
        description:
          'Runs this block alone, with the outputs of the others from this earlier run, and otherwise the `value` ' +
          'column of the trigger. When a reference has no value, the answer is INVALID_INPUT: each row of `details` ' +
          'has the path `only.values.<reference>`.',
      },
    ),
  ),
})

/** The trigger of a manual run: the manual trigger, otherwise the API trigger, otherwise any other. */
export function chooseTrigger(
  plan: Plan,
  wanted: StartKind | undefined,
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

/** The trigger that starts a run like an earlier one: the same block, or else one of the same type. */
export function triggerLike(plan: Plan, previous: PreviousRun): PlanTrigger {
  const { trigger } = previous
  const all = [...plan.triggers.values()]
  const found =
    all.find(({ node }) => node.id === trigger?.blockId) ?? all.find(({ node }) => node.type === trigger?.type)
  if (found) return found
  const message = trigger
    ? `This version has no trigger like "${trigger.name}", which started that run. Choose another version.`
    : 'That run did not get as far as its trigger, so it cannot run again.'
  throw new AppError('CONFLICT', message)
}

/** The outputs of an e-mail trigger for an empty message. */
const emptyMail = {
  ...{ from: null, fromName: null, to: [], cc: [], replyTo: [], subject: '', text: null, html: null, date: null },
  ...{ messageId: null, inReplyTo: null, attachments: [], problem: null },
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
    case 'poll':
    case 'rss': {
      const found = Object.hasOwn(sent, 'item') ? { item: null, ...sent } : { item: given ?? null }
      return { input: found, fields: found }
    }
    case 'event': {
      const event = { ...sampleEvent(at), ...sent }
      return { input: event, fields: event }
    }
    case 'email': {
      const mail = { ...emptyMail, date: new Date(now).toISOString(), ...sent }
      return { input: mail, fields: mail }
    }
    case 'chat': {
      const message = { input: '', conversationId: null, history: [], files: [], ...sent }
      return { input: message, fields: message, ...historyIn(message) }
    }
    case 'form': {
      const reading = readForm(sent, format as readonly FormField[])
      if (reading.ok) return { input: reading.values, fields: reading.values }
      throw invalidInput(reading.details)
    }
    default: {
      const reading = readInput(sent, format, { samples: true })
      if (reading.ok) return reading.value
      throw invalidInput(reading.details)
    }
  }
}

function invalidInput(details: readonly ErrorDetail[]): AppError {
  const rows = details.map(({ path, message }) => ({ path: `input.${path}`, message }))
  return problemsError('INVALID_INPUT', rows)
}

/**
 * The samples of a trigger: the `value` column of its input format, or the current time. Fields without a sample are
 * absent.
 */
export function triggerSample({ node, format }: PlanTrigger, now: number): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  switch (node.definition.starts) {
    case 'schedule': {
      const at = new Date(now).toISOString()
      return { dueAt: at, firedAt: at }
    }
    case 'event':
      return sampleEvent(new Date(now).toISOString())
    case 'api':
    case 'manual':
      for (const field of format) {
        const reading = readInput({}, [{ ...field, required: true }], { samples: true })
        if (reading.ok) setMember(fields, field.name, reading.value.fields[field.name])
      }
      return fields
    default:
      return fields
  }
}

/** A sample event, for manual runs of a workflow with an event trigger. */
function sampleEvent(at: string): Record<string, unknown> {
  const run = { workflowId: 'sample', workflowName: 'Sample', executionId: 'sample' }
  const rest = { rule: null, measured: null, suppressed: 0, at }
  return { type: 'run.failed', ...run, error: 'This is a sample: nothing has failed.', ...rest }
}

const noRequest = { body: null, headers: {}, query: {}, method: 'POST' }

/**
 * The input that the trigger had in an earlier run, where its span was `span`. `runsAgain`: the trigger itself runs
 * again with it. Throws `CONFLICT` when the log does not have the complete input.
 */
export function previousInput(
  { node }: PlanTrigger,
  previous: PreviousRun,
  { files, runsAgain, span }: { files: readonly RunFile[]; runsAgain: boolean; span: Span },
): TriggerInput {
  const damage = runsAgain ? previous.damageOf(span) : undefined
  if (damage !== undefined) {
    const message = `The input of that run cannot be used again: ${damage}. Provide an input, or start a new run.`
    throw new AppError('CONFLICT', message, { details: [{ path: node.id, message }] })
  }
  const fields = fieldsIn(span.output)
  const whole = isObject(previous.root.input) ? previous.root.input : {}
  const history = node.definition.starts === 'chat' ? historyIn(fields) : {}
  return { input: whole, fields, ...history, ...(files.length > 0 ? { files } : {}) }
}

/** The input of a run that starts with these outputs of its trigger. */
export function outputsAsInput(outputs: unknown): TriggerInput {
  const fields = fieldsIn(outputs)
  return { input: fields, fields, ...historyIn(fields) }
}

/** The outputs of a trigger without the member that holds the whole input. */
function fieldsIn(outputs: unknown): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(isObject(outputs) ? outputs : {})) {
    if (name !== 'input' || !isObject(value)) setMember(fields, name, value)
  }
  return fields
}

/** The chat history that agents receive in a manual run. */
function historyIn({ history }: Record<string, unknown>): Pick<TriggerInput, 'history'> {
  return findValidationErrors(ChatHistory, history).length === 0 ? { history: history as ChatMessage[] } : {}
}

const ChatHistory = t.Array(
  t.Object({ role: t.Union([t.Literal('user'), t.Literal('assistant')]), content: t.String() }),
)
