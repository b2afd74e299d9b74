import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'
import { OnError } from '../../domain/workflow/workflow.ts'
import { modelParameters } from '../model-parameters.ts'
import { type PersonalDataName, personalData, personalDataNames } from './personal-data.ts'

/** In the order in which they run: those that ask a model come last. */
export const checkNames = ['json', 'regex', 'pii', 'toxicity', 'hallucination'] as const
export type CheckName = (typeof checkNames)[number]

export const modelChecks: readonly CheckName[] = ['toxicity', 'hallucination']

const personalDataLabels = Object.fromEntries(
  personalDataNames.map((name) => [name, personalData[name].label]),
) as Record<PersonalDataName, string>

const forModelChecks = Object.fromEntries(
  Object.entries(modelParameters).map(([name, schema]) => [name, { ...schema, when: whenChecked(...modelChecks) }]),
) as unknown as typeof modelParameters

export const GuardrailsParameters = t.Object({
  input: t.Unknown({ title: 'Text', description: 'What is checked. A value that is not text is checked as JSON.' }),
  checks: t.Array(
    oneOf(checkNames, {
      labels: {
        json: 'Valid JSON',
        regex: 'Pattern',
        pii: 'Personal data',
        toxicity: 'Toxicity',
        hallucination: 'Hallucination',
      },
    }),
    { title: 'Checks', description: 'They run in this order until one fails. The last two ask a model.', minItems: 1 },
  ),
  jsonSchema: t.Optional(
    recordOf(t.Unknown(), {
      title: 'JSON schema',
      description: 'What the JSON must fit.',
      expected: 'a JSON schema',
      when: whenChecked('json'),
    }),
  ),
  regex: t.Optional(
    t.String({
      title: 'Pattern',
      description: 'A regular expression of JavaScript, such as ^[A-Z]{2}-\\d+$. The text must contain a match.',
      maxLength: 1_000,
      when: whenChecked('regex'),
    }),
  ),
  piiEntityTypes: t.Optional(
    t.Array(oneOf(personalDataNames, { labels: personalDataLabels }), {
      title: 'Kinds of personal data',
      description: 'Without a choice: all of them.',
      when: whenChecked('pii'),
    }),
  ),
  piiMode: oneOf(['block', 'mask'], {
    title: 'Personal data that is found',
    description: 'Masked data is replaced by its kind in the output maskedText, and the check passes.',
    default: 'block',
    labels: { block: 'Fails the check', mask: 'Is masked' },
    when: whenChecked('pii'),
  }),
  toxicityLimit: t.Number({
    title: 'Toxicity limit',
    description: 'The check fails with a score above it. 0 is harmless, and 10 is extremely toxic.',
    ...{ default: 3, minimum: 0, maximum: 10 },
    when: whenChecked('toxicity'),
  }),
  source: t.Optional(
    t.Unknown({
      title: 'Source',
      description: 'The text that must support what the checked text says.',
      when: whenChecked('hallucination'),
    }),
  ),
  threshold: t.Number({
    title: 'Least support',
    description: 'The check fails with a score below it. 0 is invented, and 10 is fully supported by the source.',
    ...{ default: 3, minimum: 0, maximum: 10 },
    when: whenChecked('hallucination'),
  }),
  ...forModelChecks,
  provider: t.Optional(forModelChecks.provider),
  model: t.Optional(forModelChecks.model),
  onError: { ...OnError, default: 'stop' },
})
export type GuardrailsParameters = Static<typeof GuardrailsParameters>

/** The form shows the parameter while one of these checks is chosen. */
function whenChecked(...checks: CheckName[]) {
  return { parameter: 'checks', has: checks }
}
