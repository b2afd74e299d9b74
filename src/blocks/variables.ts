import { Type as t } from '@sinclair/typebox'
import { isObject, setMember } from '../domain/run/input.ts'
import { defineBlock, type ParameterFinding } from '../engine/block.ts'
import { checkLabels, Labels } from './labels.ts'
import { namesIn } from './names-in.ts'

export const variables = defineBlock({
  type: 'variables',
  label: 'Variables',
  description: 'Sets run variables, and labels by which the run can be found.',
  kind: 'step',
  isPure: true,
  parameters: t.Object({
    assign: t.Array(t.Object({ name: t.String({ minLength: 1 }), value: t.Optional(t.Unknown()) }), {
      title: 'Assign',
      default: [],
    }),
    labels: Labels,
  }),
  outputs: [],
  declaredOutputs: ({ assign }) => namesIn(assign),
  mayFail: true,
  check: (_params, facts, { assign, labels }) => [
    ...checkLabels(labels),
    ...namesIn(assign).flatMap((name, index): ParameterFinding[] => {
      if (facts.variables.has(name)) return []
      const message = `The workflow has no run variable "${name}". Add it to the run variables of the workflow, or correct the name.`
      return [{ level: 'error', code: 'UNKNOWN_VARIABLE', path: `assign.${index}.name`, message }]
    }),
  ],
  run({ assign, labels }, context) {
    const outputs: Record<string, unknown> = {}
    for (const { name, value } of assign) {
      context.variables.set(name, value ?? null)
      setMember(outputs, name, value ?? null)
    }
    if (labels) context.label(labels)
    return { outputs }
  },
  restore(outputs, context, input) {
    for (const [name, value] of Object.entries(outputs)) context.variables.set(name, value)
    if (isObject(input) && isObject(input['labels'])) context.label(input['labels'])
  },
})
