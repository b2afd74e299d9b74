import { describe, expect, test } from 'bun:test'
import { ElicitRequestFormParamsSchema } from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { fieldFormats, fieldTypes } from '../../../../src/domain/workflow/field-kinds.ts'
import type { FormField } from '../../../../src/domain/workflow/form.ts'
import { elicitedIn, placeIn, questionId, questionOf, showsForms } from '../../../../src/http/routes/mcp/elicitation.ts'

const newest = '2025-11-25'
const ask = (fields: FormField[], version = newest) => questionOf({ title: 'Ship?', message: '', fields }, version)

describe('the question of an approval', () => {
  test('has a field of the form for each field of the approval', () => {
    const fields: FormField[] = [
      { name: 'note', type: 'string', label: 'A note', description: 'For the packer', required: true },
      { name: 'mail', type: 'string', format: 'email' },
      { name: 'page', type: 'string', format: 'url' },
      { name: 'day', type: 'string', format: 'date' },
      { name: 'count', type: 'number' },
      { name: 'size', type: 'number', options: ['1', '2'] },
      { name: 'fast', type: 'boolean' },
      { name: 'colours', type: 'array', options: ['red', 'blue'], required: true },
    ]
    expect(questionOf({ title: 'Ship?', message: 'Order 7', fields }, newest)).toEqual({
      message: 'Ship?\n\nOrder 7\n\nAccept to approve, or decline to reject.',
      requestedSchema: {
        type: 'object',
        properties: {
          note: { type: 'string', title: 'A note', description: 'For the packer' },
          mail: { type: 'string', format: 'email' },
          page: { type: 'string', format: 'uri' },
          day: { type: 'string', format: 'date' },
          count: { type: 'number' },
          size: { type: 'string', enum: ['1', '2'] },
          fast: { type: 'boolean' },
          colours: { type: 'array', minItems: 1, items: { type: 'string', enum: ['red', 'blue'] } },
        },
        required: ['note', 'colours'],
      },
    })
  })

  test('leaves out fields that clients cannot show, and is not asked when such a field is required', () => {
    const proof: FormField = { name: 'proof', type: 'files' }
    expect(ask([proof])?.requestedSchema).toEqual({ type: 'object', properties: {} })
    expect(ask([{ ...proof, required: true }])).toBeUndefined()
    expect(ask([{ name: 'more', type: 'object', required: true }])).toBeUndefined()
    expect(ask([{ name: 'free', type: 'array', required: true }])).toBeUndefined()
    const list: FormField = { name: 'colours', type: 'array', options: ['red'], required: true }
    expect([ask([list]) === undefined, ask([list], '2025-06-18') === undefined]).toEqual([false, true])
    expect(ask([{ name: 'approved', type: 'boolean' }])).toBeUndefined()
  })

  test('fits the schema of the protocol, whatever the fields are', () => {
    const field: fc.Arbitrary<FormField> = fc.record(
      {
        name: fc.string({ minLength: 1 }),
        type: fc.constantFrom(...fieldTypes),
        format: fc.constantFrom(...fieldFormats),
        label: fc.string(),
        description: fc.string(),
        options: fc.array(fc.string()),
        required: fc.boolean(),
      },
      { requiredKeys: ['name', 'type'] },
    )
    fc.assert(
      fc.property(fc.array(field, { maxLength: 5 }), fc.constantFrom(newest, '2025-06-18', ''), (fields, version) => {
        const question = ask(fields, version)
        expect(question === undefined || ElicitRequestFormParamsSchema.safeParse(question).success).toBe(true)
      }),
    )
  })
})

describe('the answer of a client', () => {
  test('approves or rejects only when the client says so', () => {
    expect(elicitedIn({ action: 'accept', content: { note: 'x' } })).toEqual({
      action: 'accept',
      content: { note: 'x' },
    })
    expect(elicitedIn({ action: 'decline' })).toEqual({ action: 'decline', content: {} })
    for (const result of [undefined, {}, { action: 'cancel' }, { action: true }, { content: { note: 'x' } }]) {
      expect(elicitedIn(result)).toEqual({ action: 'cancel', content: {} })
    }
  })

  test('names the call and the pause that it answers', () => {
    const place = { callId: 'a'.repeat(22), contextId: '0198-abc' }
    expect(placeIn(questionId(place, 3))).toEqual(place)
    fc.assert(fc.property(fc.oneof(fc.string(), fc.integer()), (id) => placeIn(id) === undefined))
  })
})

test('a client shows forms when its capability says so', () => {
  expect([{ elicitation: {} }, { elicitation: { form: {}, url: {} } }].map(showsForms)).toEqual([true, true])
  expect([undefined, {}, { elicitation: true }, { elicitation: { url: {} } }].map(showsForms)).toEqual([
    ...[false, false, false, false],
  ])
})
