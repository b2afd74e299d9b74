import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../../domain/one-of.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { listOf, maybe } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Model = t.Object({
  model: t.String(),
  provider: maybe(oneOf(['openai', 'anthropic', 'google'])),
  price: t.Object(
    { input: t.Number(), output: t.Number(), cachedInput: maybe(t.Number()) },
    { description: 'USD per million tokens.' },
  ),
})

/** The known language models for agents. */
export function modelRoutes({ priceOf }: Services, door: Door) {
  return new Elysia().get(
    '/models',
    async ({ request, set }) => {
      await door.requireSession(request, set)
      return {
        data: priceOf.models.flatMap((model) => {
          const price = priceOf(model)
          const provider = providerOf(model)
          return price ? [{ model, provider, price: { ...price, cachedInput: price.cachedInput ?? null } }] : []
        }),
      }
    },
    editorRoute({
      name: 'listModels',
      summary: 'List the language models with a known price',
      description: 'Other models can be used too; their cost is unknown.',
      responses: { 200: listOf(Model) },
    }),
  )
}

/** The provider, by its naming scheme; null for a model that the operator added. */
function providerOf(model: string): 'openai' | 'anthropic' | 'google' | null {
  if (/^(gpt-|o\d|chatgpt-)/.test(model)) return 'openai'
  if (model.startsWith('claude-')) return 'anthropic'
  return model.startsWith('gemini-') ? 'google' : null
}
