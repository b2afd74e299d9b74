import { Type as t } from '@sinclair/typebox'

export const Tokens = t.Object(
  {
    prompt: t.Number({ description: 'Those that the provider had in its cache included.' }),
    completion: t.Number(),
    total: t.Number(),
  },
  { $id: 'Tokens' },
)

const amounts = { input: t.Number(), output: t.Number(), total: t.Number() }

/** What a run cost: every request of a model in it, those of loops, tools, sub-workflows and failures included. */
export const Cost = t.Object(
  {
    total: t.Number({ description: 'USD.' }),
    tokens: Tokens,
    models: t.Record(t.String(), t.Object({ ...amounts, tokens: Tokens }), {
      description: 'By the name of the model as blocks give it; USD.',
    }),
  },
  { $id: 'Cost' },
)

/** What only the span of a model's request has. */
export const modelFacts = {
  model: t.Optional(t.String({ description: 'Of a request of a language model, like the members that follow.' })),
  tokens: t.Optional(Tokens),
  cost: t.Optional(t.Object(amounts, { description: 'USD.' })),
  timeToFirstTokenMs: t.Optional(t.Number()),
  costUnknown: t.Optional(
    t.Literal(true, { description: 'No price is known for the model: the cost of 0 says nothing.' }),
  ),
  tokensUnknown: t.Optional(t.Literal(true, { description: 'The provider did not tell the tokens.' })),
}
