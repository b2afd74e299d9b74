import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../domain/one-of.ts'

const fieldTypes = ['string', 'number', 'boolean', 'object', 'array'] as const

/** A field that people fill in when a run asks them. */
export const AskedField = t.Object({
  name: t.String({ title: 'Name', minLength: 1 }),
  type: oneOf(fieldTypes, {
    title: 'Type',
    labels: { string: 'Text', number: 'Number', boolean: 'Yes or no', object: 'Object', array: 'List' },
  }),
  label: t.Optional(t.String({ title: 'Label' })),
  description: t.Optional(t.String({ title: 'Description' })),
  options: t.Optional(t.Array(t.String(), { title: 'Choices' })),
  required: t.Optional(t.Boolean({ title: 'Required' })),
})
