import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'
import { OnError } from '../../domain/workflow/workflow.ts'
import { modelParameters } from '../model-parameters.ts'
import { type PersonalDataName, personalData, personalDataNames } from './personal-data.ts'

/** In the order in which they run. The checks that ask a model come last. */
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
  input: t.Unknown({ title: 'Text', description: 'The text to check. Any other value is checked as JSON.' }),
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
    { title: 'Checks', description: 'Run in this order until one fails. The last two ask a model.', minItems: 1 },
  ),
  jsonSchema: t.Optional(
    recordOf(t.Unknown(), {
      title: 'JSON schema',
      description: 'The JSON must match this schema.',
      expected: 'a JSON schema',
      when: whenChecked('json'),
    }),
  ),
  regex: t.Optional(
    t.String({
      title: 'Pattern',
      description: 'A JavaScript regular expression, such as ^[A-Z]{2}-\\d+$. The text must contain a match.',
      maxLength: 1_000,
      when: whenChecked('regex'),
    }),
  ),
  piiEntityTypes: t.Optional(
    t.Array(oneOf(personalDataNames, { labels: personalDataLabels }), {
      title: 'Kinds of personal data',
      description: 'If none is selected, the block looks for all kinds.',
      when: whenChecked('pii'),
    }),
  ),
  piiMode: oneOf(['block', 'mask'], {
    title: 'If personal data is found',
    description: 'Masking replaces the data with its kind in the output maskedText, and the check passes.',
    default: 'block',
    labels: { block: 'Fail the check', mask: 'Mask it' },
    when: whenChecked('pii'),
  }),
  toxicityLimit: t.Number({
    title: 'Highest toxicity',
    description: 'The check fails above this score. 0 is harmless, and 10 is extremely toxic.',
    ...{ default: 3, minimum: 0, maximum: 10 },
    when: whenChecked('toxicity'),
  }),
  source: t.Optional(
    t.Unknown({
      title: 'Source',
      description: 'The text that must support the statements of the checked text.',
      when: whenChecked('hallucination'),
    }),
  ),
  threshold: t.Number({
    title: 'Lowest support',
    description: 'The check fails below this score. 0 is invented, and 10 is fully supported by the source.',
    ...{ default: 3, minimum: 0, maximum: 10 },
    when: whenChecked('hallucination'),
  }),
  ...forModelChecks,
  provider: t.Optional(forModelChecks.provider),
  model: t.Optional(forModelChecks.model),
  onError: { ...OnError, default: 'stop' },
})
export type GuardrailsParameters = Static<typeof GuardrailsParameters>

/** The form shows the parameter only while one of these checks is selected. */
function whenChecked(...checks: CheckName[]) {
  return { parameter: 'checks', has: checks }
}
