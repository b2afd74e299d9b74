import { Type as t } from '@sinclair/typebox'
import { setMember } from '../domain/run/input.ts'
import { InputField, type TriggerKind } from '../domain/workflow/workflow.ts'
import { type BlockDefinition, defineBlock, type ParameterFinding } from '../engine/block.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'
import { namesIn } from './names-in.ts'

const Parameters = t.Object({
  inputFormat: t.Optional(
    t.Array(InputField, { title: 'Input format', description: 'The fields that a caller may send.' }),
  ),
  labels: Labels,
})

/** Defines a trigger whose outputs are the declared fields and, as `input`, everything that was sent. */
export function inputTrigger(trigger: {
  type: string
  label: string
  description: string
  starts: TriggerKind
}): BlockDefinition {
  return defineBlock({
    ...trigger,
    kind: 'trigger',
    isRepeatable: true,
    parameters: Parameters,
    modes: { inputFormat: 'literal', labels: 'own' },
    outputs: ['input'],
    declaredOutputs: ({ inputFormat }) => namesIn(inputFormat),
    mayFail: false,
    check: ({ inputFormat }, _facts, { labels }) => [
      ...checkFormat((inputFormat ?? []) as InputField[]),
      ...checkLabels(labels),
    ],
    // The same object in each run is written only once, so it is copied only to leave something out.
    showInput: (params) => ('labels' in params ? withoutLabels(params) : params),
    run({ labels }, context) {
      const { input } = context
      const outputs: Record<string, unknown> = { ...input.fields }
      setMember(outputs, 'input', input.input)
      labelWith(labels, outputs, context)
      return { outputs }
    },
  })
}

function withoutLabels({ labels: _, ...shown }: Readonly<Record<string, unknown>>): unknown {
  return shown
}

/** Members of a request body that control the response. They cannot be input fields. */
const controlMembers = new Set(['stream', 'selectedOutputs'])

function checkFormat(format: readonly InputField[]): ParameterFinding[] {
  const seen = new Set<string>()
  return format.flatMap(({ name }, index) => {
    const path = `inputFormat.${index}.name`
    const isDuplicate = seen.has(name)
    seen.add(name)
    if (controlMembers.has(name)) {
      const message = `The input field "${name}" needs another name: in a request, "${name}" controls the response.`
      return [{ level: 'error' as const, code: 'RESERVED_FIELD', path, message }]
    }
    if (!isDuplicate) return []
    const message = `Two input fields have the name "${name}". Rename one.`
    return [{ level: 'error' as const, code: 'DUPLICATE_FIELD', path, message }]
  })
}
