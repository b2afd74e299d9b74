import { expect, test } from 'bun:test'
import { exampleInput } from '../../../../src/ui/editor/document/example-input.ts'
import { block, document } from '../../../support/make.ts'

const example = (params: Record<string, unknown>, code: string, more: object = {}) => {
  const start = { ...block('b1', 'api_trigger', params), name: 'Start' }
  return exampleInput(document({ blocks: [start, block('b2', 'function', { code })], ...more }) as never)
}

test('an input format gives the example, with its values', () => {
  const inputFormat = [
    { name: 'who', type: 'string', value: 'you' },
    { name: 'count', type: 'number' },
  ]
  expect(example({ inputFormat }, 'return <start.other>')).toEqual({ who: 'you', count: 1 })
})

test('without an input format, the example has the fields that the blocks read', () => {
  const code =
    'return [<start.name>, <API.order.id>, <start.order>, <start.input.lines[2].sku>, <other.name>, <start.input>]'
  const loops = { loop: { id: 'loop', loopType: 'forEach', forEachItems: '<start.tags>' } }
  expect(example({}, code, { loops })).toEqual({
    name: 'text',
    order: { id: 'text' },
    lines: [{ sku: 'text' }],
    tags: ['text'],
  })
  expect(example({ inputFormat: [] }, 'return <start.name>')).toEqual({ name: 'text' })
  expect(example({}, 'return 1')).toEqual({})
})
