import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { webhookMethods } from '../../../src/domain/webhook/webhook-trigger.ts'
import { Loop, Parallel } from '../../../src/domain/workflow/workflow.ts'
import { plainSchema } from '../../../src/http/openapi/plain-schema.ts'
import type { ParameterSchema } from '../../../src/http/routes/editor/blocks.ts'
import { choiceLabel, labelledValue } from '../../../src/ui/editor/document/parameter-label.ts'
import type { BlockType } from '../../../src/ui/editor/editing.tsx'
import { conflictLabel, conflictValue } from '../../../src/ui/editor/save/conflict-texts.ts'

const schemaOf = (schema: unknown) => plainSchema(schema, {}) as ParameterSchema
const forms: [string, ParameterSchema][] = [
  ...[...registry].map(([type, { parameters }]): [string, ParameterSchema] => [type, schemaOf(parameters)]),
  ['loops', schemaOf(Loop)],
  ['parallels', schemaOf(Parallel)],
]

/** Every choice among several values, with its place. */
function* choicesOf(schema: ParameterSchema, place: string): Generator<[string, ParameterSchema]> {
  if (schema.enum) yield [place, schema]
  if (schema.items) yield* choicesOf(schema.items, place)
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* choicesOf(member, `${place}.${name}`)
}

test('every choice of a form has a label for each of its values, except HTTP methods and types of fields', () => {
  const choices = forms.flatMap(([type, schema]) => [...choicesOf(schema, type)])
  expect(choices.length).toBeGreaterThan(12)
  const technical = new Set<string>([...webhookMethods, 'string', 'number', 'boolean', 'object', 'array', 'files'])
  for (const [place, schema] of choices) {
    const bare = schema.enum?.filter((value) => !technical.has(value) && choiceLabel(value, schema) === value)
    expect([place, bare]).toEqual([place, []])
  }
})

describe('a choice is shown by its label', () => {
  const types = new Map(
    [...registry].map(([type, { parameters }]) => [type, { type, parameters: schemaOf(parameters) } as BlockType]),
  )
  const properties = types.get('webhook_trigger')?.parameters.properties

  test('in a comparison of two documents', () => {
    expect(labelledValue('immediately', ['respond'], properties)).toBe('Immediately')
    expect(labelledValue('bearer', ['authentication', 'type'], properties)).toBe('Bearer token')
    expect(labelledValue('immediately', ['path'], properties)).toBe('immediately')
    expect(labelledValue(['POST'], ['methods'], properties)).toEqual(['POST'])
    expect(labelledValue('user', ['messages', '0', 'role'], types.get('agent')?.parameters.properties)).toBe('User')
  })

  test('when two people changed it differently', () => {
    const hook = { id: 'hook', name: 'Hook', type: 'webhook_trigger', params: {} }
    const document = { blocks: { hook } } as never
    const path = ['blocks', 'hook', 'params', 'respond']
    const conflict = { path, base: undefined, mine: 'immediately', theirs: 'workflow' }
    expect(conflictLabel(conflict, document, types)).toBe('Hook › Respond')
    expect(conflictValue(conflict.theirs, conflict, document, types)).toBe('With the response of the workflow')
  })
})
