import { expect, test } from 'bun:test'
import { middleCut, shortExpression, shortUrl } from '../../../src/ui/editor/canvas/text/short-text.ts'

test('a long URL keeps its host and the end of its path', () => {
  expect(shortUrl('https://a.example/x', 26)).toBe('https://a.example/x')
  const short = shortUrl('http://127.0.0.1:4177/customers/orders/77', 26)
  expect([short.length, short.startsWith('127.0.0.1'), short.endsWith('orders/77')]).toEqual([26, true, true])
})

test('a long comparison keeps the last step of its references, and its value', () => {
  expect(shortExpression('<a.b> === 1', 30)).toBe('<a.b> === 1')
  expect(shortExpression('<order.data.customer.tier> === "gold"', 30)).toBe('<…tier> === "gold"')
  expect(shortExpression('<order.data.customer.tier>.toLowerCase().trim() === "gold"', 30)).toEndWith('=== "gold"')
})

test('text is at most as long as asked', () => {
  for (const max of [2, 5, 9]) expect(middleCut('0123456789', max)).toHaveLength(max)
})
