import { type Static, Type as t } from '@sinclair/typebox'
import { shorten } from '../domain/text/shorten.ts'
import { asText } from '../domain/workflow/reference.ts'
import {
  type BlockContext,
  BlockError,
  type BlockResult,
  defineBlock,
  idsOf,
  type ParameterFinding,
} from '../engine/block.ts'
import { checkModelParameters, modelParameters, withoutApiKey } from './model-parameters.ts'
import { askModel } from './model-turn.ts'
import { objectIn } from './object-response.ts'

const Route = t.Object({
  id: t.String({ minLength: 1, maxLength: 100 }),
  description: t.Optional(t.String({ title: 'Description', description: 'When to choose this route.' })),
})

const Parameters = t.Object({
  ...modelParameters,
  prompt: t.Unknown({ title: 'Prompt', description: 'What the model decides on, and by which criteria.' }),
  routes: t.Array(Route, { title: 'Routes', minItems: 1, maxItems: 100 }),
})
type Parameters = Static<typeof Parameters>

/** Continues at the handle that a language model chooses. */
export const router = defineBlock({
  type: 'router',
  label: 'Router',
  description: 'Continues at the route that a language model chooses.',
  kind: 'step',
  parameters: Parameters,
  outputs: ['route', 'model', 'tokens', 'cost'],
  branches: { list: 'routes', prefix: 'router-', output: 'route' },
  mayFail: false,
  check(params, { priceOf }, written) {
    const ids = idsOf(params['routes'])
    const twice = ids.flatMap((id, index): ParameterFinding[] => {
      if (ids.indexOf(id) === index) return []
      const message = `Two routes have the id "${id}".`
      return [{ level: 'error', code: 'DUPLICATE_ID', path: `routes.${index}.id`, message }]
    })
    return [...checkModelParameters(params, written, priceOf), ...twice]
  },
  showInput: withoutApiKey,
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const { model, prompt, routes } = params
  const ids = routes.map(({ id }) => id)
  const turn = await askModel(
    {
      params,
      messages: [
        { role: 'system', content: instructionOf(routes) },
        { role: 'user', content: asText(prompt) },
      ],
      tools: [],
      responseSchema: {
        type: 'object',
        properties: { route: { type: 'string', enum: ids } },
        required: ['route'],
        additionalProperties: false,
      },
    },
    context,
  )
  if (!turn.ok) throw new BlockError(turn.error.code, turn.error.message)
  const route = choiceOf(turn.response.text, ids)
  if (route === undefined) {
    const responseText = shorten(turn.response.text, shownCharsMax)
    throw new BlockError(
      'INVALID_OUTPUT',
      `The model "${model}" chose none of the routes ${ids.join(', ')}. Its response was: ${responseText}`,
    )
  }
  return { outputs: { route, model, tokens: turn.tokens, cost: turn.cost }, port: `router-${route}` }
}

/** Characters of an unusable response in the error message. */
const shownCharsMax = 500

function instructionOf(routes: Parameters['routes']): string {
  const list = routes.map(({ id, description }) => `- ${JSON.stringify(id)}${description ? `: ${description}` : ''}`)
  return (
    'Choose the one route that fits what the user says best. The routes:\n' +
    `${list.join('\n')}\nAnswer with JSON and nothing else: {"route": "<the id of the route>"}`
  )
}

/** The route in a response. A model without a JSON mode may write only the id, or a code fence around the JSON. */
function choiceOf(text: string, ids: readonly string[]): string | undefined {
  const bare = text.trim().replace(/^["'`]+|["'`.]+$/g, '')
  if (ids.includes(bare)) return bare
  const route = objectIn(text)?.['route']
  return ids.find((id) => id === route)
}
