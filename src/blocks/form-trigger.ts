import { Type as t } from '@sinclair/typebox'
import { setMember } from '../domain/run/input.ts'
import { FormParameters } from '../domain/workflow/form.ts'
import { isWebAddress } from '../domain/workflow/form-values.ts'
import { defineBlock, type ParameterFinding } from '../engine/block.ts'
import { checkFields } from './form-fields.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'
import { namesIn } from './names-in.ts'

export const formTrigger = defineBlock({
  type: 'form_trigger',
  label: 'Form',
  description: 'Starts the workflow when a person sends the form on its page.',
  kind: 'trigger',
  starts: 'form',
  isRepeatable: true,
  parameters: t.Object({ ...FormParameters.properties, labels: Labels }),
  modes: {
    ...Object.fromEntries(Object.keys(FormParameters.properties).map((name) => [name, 'literal' as const])),
    labels: 'own',
  },
  outputs: ['input'],
  declaredOutputs: ({ fields }) => namesIn(fields),
  mayFail: false,
  givenAtSave: ['path'],
  registers: ({ path }) => (path ? { address: { kind: 'form', name: path } } : {}),
  respondsAtOnce: ({ respond }) => respond !== 'workflow',
  check: ({ fields, access, password, redirect }, _facts, { labels }) => [
    ...checkLabels(labels),
    ...checkFields(fields, { reserved: new Set(['input']) }),
    ...(access === 'password' && !password
      ? [finding('MISSING_PARAMETER', 'password', 'Password is empty. Enter one, or choose another access.')]
      : []),
    ...(typeof redirect === 'string' && redirect !== '' && !isWebAddress(redirect)
      ? [
          finding(
            'INVALID_URL',
            'redirect',
            'Redirect must be an http or https URL, such as https://example.com/thanks.',
          ),
        ]
      : []),
  ],
  // The span shows no parameters, because they include the password.
  showInput: () => ({}),
  run({ labels }, context) {
    const { input } = context
    const outputs: Record<string, unknown> = { ...input.fields }
    setMember(outputs, 'input', input.input)
    labelWith(labels, outputs, context)
    return { outputs }
  },
})

function finding(code: string, path: string, message: string): ParameterFinding {
  return { level: 'error', code, path, message }
}
