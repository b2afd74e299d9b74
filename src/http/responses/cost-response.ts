import { Type as t } from '@sinclair/typebox'
import { recordOf } from '../../domain/record-of.ts'

export const Tokens = t.Object(
  {
    prompt: t.Number({ description: 'Includes tokens that the provider read from its cache.' }),
    completion: t.Number(),
    total: t.Number(),
  },
  { $id: 'Tokens' },
)

const amounts = { input: t.Number(), output: t.Number(), total: t.Number() }

/** The cost of a run: all its model requests, including those of loops, tools, sub-workflows and failures. */
export const Cost = t.Object(
  {
    total: t.Number({ description: 'USD.' }),
    tokens: Tokens,
    models: recordOf(t.Object({ ...amounts, tokens: Tokens }), {
      description: 'In USD, by model name as the blocks give it.',
    }),
  },
  { $id: 'Cost' },
)

/** Members that only the span of a model request has. */
export const modelFacts = {
  model: t.Optional(t.String({ description: 'Set for a model request, like the members that follow.' })),
  tokens: t.Optional(Tokens),
  cost: t.Optional(t.Object(amounts, { description: 'USD.' })),
  timeToFirstTokenMs: t.Optional(t.Number()),
  costUnknown: t.Optional(t.Literal(true, { description: 'The price of the model is unknown, so the cost is 0.' })),
  tokensUnknown: t.Optional(t.Literal(true, { description: 'The provider did not report the tokens.' })),
}
