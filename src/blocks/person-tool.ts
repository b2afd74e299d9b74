import type { ModelTool } from '../domain/run/model-call.ts'
import type { FormField } from '../domain/workflow/form.ts'
import type { BlockContext } from '../engine/block.ts'
import { toolName } from './agent-tool-parameters.ts'

/** A tool with which a model asks a person: the run pauses like at an approval. */
export type PersonTool = {
  type: 'human'
  name?: string
  description?: string
  title?: string
  fields?: readonly FormField[]
}

export function describePerson(tool: PersonTool): ModelTool {
  const { description = 'Asks a person, and waits for the answer. The person can approve or reject.' } = tool
  const message = { type: 'string', description: 'The question, with everything that the person needs to know.' }
  return {
    name: toolName(tool),
    description,
    parameters: { type: 'object', properties: { message }, required: ['message'] },
  }
}

export function questionOf({ message }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof message === 'string' && message.trim() !== '' ? message : undefined
}

type Question = { tool: PersonTool; question: string; within: string }

/** Pauses the run until a member of the workspace answers. Throws `BlockError` in runs that cannot pause. */
export async function askPerson({ tool, question, within }: Question, context: BlockContext) {
  const { title = 'A question of an agent', fields = [answerField] } = tool
  const { answers, isExpired } = await context.pause({
    kind: 'approval',
    within,
    until: null,
    content: { title, message: question, fields, access: 'members', accounts: [], required: 1 },
    opened: () => undefined,
  })
  const [answer] = answers
  // An editor may let the run go on without an answer, or set a time at which the pause expires.
  const approved = !isExpired && (answer?.approved ?? true)
  return { approved, by: answer?.by ?? null, fields: answer?.fields ?? {}, timedOut: isExpired }
}

const answerField: FormField = { name: 'answer', type: 'string', label: 'Answer', required: true }
