import { expect, test } from 'bun:test'
import { itemsOf } from '../../../../src/blocks/poll/poll-call.ts'

const paths = { items: '', id: 'id', maxItems: 2 }

test('a list with more items than are read says so', () => {
  const answer = itemsOf([{ id: 1 }, { id: 2 }, { id: 3 }], paths, {})
  expect(answer).toMatchObject({
    items: [{ item: { id: 1 } }, { item: { id: 2 } }],
    problem: expect.stringContaining('The list has 3 items, and only the first 2 are read ("maxItems").'),
  })
})

test('a list with as many items as are read has no problem', () => {
  expect(itemsOf([{ id: 1 }, { id: 2 }], paths, {})).toMatchObject({ problem: null })
})

test('a long list in which items have no ID says both', () => {
  const answer = itemsOf([{ id: 1 }, {}, { id: 3 }], paths, {})
  expect(answer).toMatchObject({
    problem: expect.stringMatching(/^1 of 2 items have no text or number at "id" and were ignored\. The list has 3 /),
  })
})

test('a list in pages that were not all read says so', () => {
  expect(itemsOf([{ id: 1 }, { id: 2 }], paths, {}, true)).toMatchObject({
    problem: expect.stringContaining('The list has more than 2 items, and only the first 2 are read'),
  })
})
