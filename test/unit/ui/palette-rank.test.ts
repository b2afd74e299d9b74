import { expect, test } from 'bun:test'
import { rankItems } from '../../../src/ui/shell/palette/rank.ts'

const item = (label: string, group: string, words = '') => ({ label, group, words })
const found = (items: ReturnType<typeof item>[], typed: string) => rankItems(items, typed).map(({ label }) => label)

test('an equal name comes first, then names that begin with the text, then those that have it', () => {
  const items = [
    item('Big orders', 'a'),
    item('Reorder', 'a'),
    item('Orders by day', 'a'),
    item('Orders', 'a'),
    item('X', 'a', 'orders'),
  ]
  expect(found(items, 'orders')).toEqual(['Orders', 'Orders by day', 'Big orders', 'X'])
})

test('groups stay together, in the order of their best item, and are limited', () => {
  const many = Array.from({ length: 20 }, (_, at) => item(`Order ${at}`, 'Blocks'))
  const ranked = rankItems([...many, item('Order', 'Workflows'), item('Old order', 'Workflows')], 'order')
  expect(ranked.map(({ group }) => group)).toEqual([
    'Workflows',
    'Workflows',
    ...Array.from({ length: 8 }, () => 'Blocks'),
  ])
})

test('letters in order count only when nothing has the words', () => {
  expect(found([item('Tidy up', 'a'), item('Type definitions', 'a')], 'tu')).toEqual(['Tidy up'])
  expect(found([item('Tidy up', 'a'), item('Tuesday', 'a')], 'tu')).toEqual(['Tuesday'])
})
