import { isObject } from '../../../domain/run/input.ts'
import type { PauseContent } from '../../../domain/run/pause.ts'
import { mayChoose } from '../../../domain/workflow/field-kinds.ts'
import type { FormField } from '../../../domain/workflow/form.ts'
import type { RpcId } from './json-rpc.ts'

// Questions of a paused run to the person who uses the client: requests of the method `elicitation/create`.

/** The choice of the person. `cancel`: none, or the client could not ask. */
export type Elicited = { action: 'accept' | 'decline' | 'cancel'; content: Record<string, unknown> }

export type ElicitParams = { message: string; requestedSchema: object }

/** Whether a client shows forms. An empty capability means forms. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined
  return isObject(elicitation) && (isObject(elicitation['form']) || Object.keys(elicitation).length === 0)
}

/**
 * The parameters of the question, with a schema made from the fields of the approval. Undefined when the form of a
 * client cannot show a required field. `version`: the version of the protocol.
 */
export function questionOf(
  { title, message, fields }: Pick<PauseContent, 'title' | 'message' | 'fields'>,
  version: string,
): ElicitParams | undefined {
  // The endpoint that resumes a run takes the decision by this name.
  if (fields.some(({ name }) => name === 'approved')) return undefined
  const shown = fields.map((field) => ({ field, schema: schemaOf(field, version) }))
  if (shown.some(({ field, schema }) => field.required && !schema)) return undefined
  const properties = shown.flatMap(({ field: { name }, schema }) => (schema ? [[name, schema] as const] : []))
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  const note = 'Accept to approve, or decline to reject.'
  return {
    message: [title, message, note].filter((part) => part !== '').join('\n\n'),
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    },
  }
}

/** Clients show flat forms. Undefined for a field that they cannot show. */
function schemaOf(field: FormField, version: string): object | undefined {
  const { type, format, label, description, options = [] } = field
  const texts = { ...(label && { title: label }), ...(description && { description }) }
  const choices = mayChoose(field) && options.length > 0 ? { enum: [...options] } : undefined
  switch (type) {
    case 'string':
      return { type: 'string', ...texts, ...(choices ?? formatOf(format)) }
    case 'number':
      // The choices are texts; the answer is converted.
      return choices ? { type: 'string', ...texts, ...choices } : { type: 'number', ...texts }
    case 'boolean':
      return { type: 'boolean', ...texts }
    case 'array':
      return choices && version >= choicesSince
        ? { type: 'array', ...texts, ...(field.required && { minItems: 1 }), items: { type: 'string', ...choices } }
        : undefined
    case 'object':
    case 'files':
      return undefined
  }
}

/** The first version of the protocol whose forms have lists of choices. Versions are dates. */
const choicesSince = '2025-11-25'

function formatOf(format: FormField['format']): object {
  if (format === 'email' || format === 'date') return { format }
  return format === 'url' ? { format: 'uri' } : {}
}

/** Reads the client's result. */
export function elicitedIn(result: Record<string, unknown> | undefined): Elicited {
  const { action, content } = result ?? {}
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel', content: {} }
  return { action, content: isObject(content) ? content : {} }
}

/** The place of a question: a call that waits for it, and the pause, which a later process can find, too. */
export type QuestionPlace = { callId: string; contextId: string }

/** The ID of a request of the server. `number`: how often this pause has been asked about. */
export function questionId({ callId, contextId }: QuestionPlace, number: number): string {
  return ['ask', callId, number, contextId].join('.')
}

/** Undefined for an ID that this server did not make. */
export function placeIn(id: RpcId): QuestionPlace | undefined {
  const [, callId, contextId] = /^ask\.([\w-]{22})\.\d{1,3}\.(.{1,100})$/.exec(String(id)) ?? []
  return callId === undefined || contextId === undefined ? undefined : { callId, contextId }
}
