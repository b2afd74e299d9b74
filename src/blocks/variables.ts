import { Type as t } from '@sinclair/typebox'
import { setMember } from '../domain/run/input.ts'
import { defineBlock } from '../engine/block.ts'

export const variables = defineBlock({
  type: 'variables',
  label: 'Variables',
  description: "Sets the run's variables.",
  kind: 'step',
  isPure: true,
  parameters: t.Object({
    assign: t.Array(t.Object({ name: t.String({ minLength: 1 }), value: t.Optional(t.Unknown()) }), {
      title: 'Assign',
      default: [],
    }),
  }),
  outputs: [],
  mayFail: true,
  check: (_params, facts, { assign }) =>
    namesOf(assign).flatMap((name, index) => {
      if (facts.variables.has(name)) return []
      const message = `The workflow does not declare a variable "${name}". Declare it, or correct the name.`
      return [{ level: 'error', code: 'UNKNOWN_VARIABLE', path: `assign.${index}.name`, message }]
    }),
  run({ assign }, context) {
    const outputs: Record<string, unknown> = {}
    for (const { name, value } of assign) {
      context.variables.set(name, value ?? null)
      setMember(outputs, name, value ?? null)
    }
    return { outputs }
  },
  restore(outputs, context) {
    for (const [name, value] of Object.entries(outputs)) context.variables.set(name, value)
  },
})

function namesOf(assign: unknown): string[] {
  return Array.isArray(assign) ? assign.map((entry: { name?: unknown } | null) => String(entry?.name)) : []
}
