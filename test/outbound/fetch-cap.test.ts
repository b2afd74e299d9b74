import { expect, test } from 'bun:test'
import { fetchCapNeeded, fetchCapOf } from '../../src/outbound/fetch-cap.ts'

test('the cap is 256 unless the variable holds a number', () => {
  for (const none of [undefined, '', '0', '-1', 'many', '1e3', ' 5']) expect(fetchCapOf(none)).toBe(256)
  expect(fetchCapOf('1024')).toBe(1024)
  expect(fetchCapOf('99999999')).toBe(65_535)
})

test('a cap that has room for every bulkhead is left as it is', () => {
  expect(fetchCapNeeded(undefined, [])).toBeUndefined()
  expect(fetchCapNeeded(undefined, [200])).toBeUndefined()
  expect(fetchCapNeeded('756', [200, 500])).toBeUndefined()
})

test('one that has not is told with what would do', () => {
  expect(fetchCapNeeded(undefined, [201])).toBe('257')
  expect(fetchCapNeeded('755', [200, 500])).toBe('756')
  expect(fetchCapNeeded('100', [65_000, 65_000])).toBe('65535')
  const needed = fetchCapNeeded(undefined, [200, 500])
  expect(fetchCapNeeded(needed, [200, 500])).toBeUndefined()
})
