import { addTokens, type CallCost, noTokens, type Tokens } from '../domain/run/cost.ts'
import { isObject } from '../domain/run/input.ts'
import type { ModelMessage } from '../domain/run/model-call.ts'
import { jsonRefusal } from '../domain/text/json.ts'
import { shorten } from '../domain/text/shorten.ts'
import type { BlockContext, BlockErrorData } from '../engine/block.ts'
import type { ModelParameters } from './model-parameters.ts'
import { addCallCost, askModel } from './model-turn.ts'

export type ObjectQuestion<Value> = {
  params: ModelParameters
  instruction: string
  text: string
  /** The JSON schema of the object. Some models do not follow it. */
  schema: Record<string, unknown>
  /** Reads the response. Returns a text for the model if the response is wrong. */
  read(response: Readonly<Record<string, unknown>>): { value: Value } | string
}

export type ObjectResponse<Value> = { tokens: Tokens; cost: CallCost } & (
  | { ok: true; value: Value }
  | { ok: false; error: BlockErrorData }
)

/** Asks a model for a JSON object. If the response is wrong, tells the model why and asks once more. */
export async function askForObject<Value>(
  { params, instruction, text, schema, read }: ObjectQuestion<Value>,
  context: BlockContext,
): Promise<ObjectResponse<Value>> {
  const messages: ModelMessage[] = [
    { role: 'system', content: instruction },
    { role: 'user', content: text },
  ]
  let used = { tokens: noTokens, cost: { input: 0, output: 0, total: 0 } }
  for (let attempt = 1; ; attempt += 1) {
    const turn = await askModel({ params, messages: [...messages], tools: [], responseSchema: schema }, context)
    used = { tokens: addTokens(used.tokens, turn.tokens), cost: addCallCost(used.cost, turn.cost) }
    if (!turn.ok) return { ok: false, error: turn.error, ...used }
    const { text: response, finish } = turn.response
    if (finish === 'content-filter') {
      return {
        ok: false,
        error: { code: 'REFUSED', message: `The model "${params.model}" refused to respond.` },
        ...used,
      }
    }
    const found = objectIn(response)
    const outcome = found ? read(found) : 'The response is not a JSON object.'
    if (typeof outcome !== 'string') return { ok: true, value: outcome.value, ...used }
    if (attempt === attemptsMax) {
      const cut = finish === 'length' ? ' It was cut off at the output limit: raise maxTokens.' : ''
      const shown = response === '' ? ' It was empty.' : ` It was: ${shorten(response, shownCharsMax)}`
      const message = `The response of the model "${params.model}" is wrong, even after a second request. ${outcome}${cut}${shown}`
      return { ok: false, error: { code: 'INVALID_OUTPUT', message }, ...used }
    }
    // Providers refuse an empty message.
    messages.push({ role: 'assistant', content: response.trim() === '' ? '{}' : response })
    messages.push({ role: 'user', content: `${outcome} Answer again, with the JSON object and nothing else.` })
  }
}

const attemptsMax = 2

/** The most characters of a wrong response in the error message. */
const shownCharsMax = 500

/** The JSON object in a response. Models without a JSON mode may put text or a code fence around it. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
  if (jsonRefusal(json) !== undefined) return undefined
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
