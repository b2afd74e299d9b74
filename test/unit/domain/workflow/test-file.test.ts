import { expect, test } from 'bun:test'
import { readTestFile } from '../../../../src/domain/workflow/test-file.ts'

const problems = (...tests: readonly unknown[]) => {
  const reading = readTestFile({ tests })
  return 'details' in reading ? reading.details.map(({ path }) => path) : []
}
const sound = { name: 'One', expect: {} }

test('a test file needs nothing but names and expectations', () => {
  expect(readTestFile({ tests: [sound] })).toEqual({ file: { tests: [sound] } })
})

test('every problem names its place', () => {
  expect(problems({ ...sound, now: 'tomorrow' })).toEqual(['tests[0].now'])
  expect(problems(sound, sound)).toEqual(['tests[1].name'])
  expect(problems({ ...sound, expct: {} })).toEqual(['tests[0].expct'])
  const response = { status: 200 }
  const mocks = [
    { block: 'A' },
    { block: 'A', response, output: {} },
    { output: {} },
    { response },
    { request: { method: 'GET' }, response },
    { block: 'A', request: { url: 'https://a.example/' }, output: {} },
    { block: 'A', response: { status: 100 } },
    { block: 'A', response },
  ]
  expect(problems({ ...sound, mocks })).toEqual([
    ...Array.from({ length: 6 }, (_, index) => `tests[0].mocks[${index}]`),
    'tests[0].mocks[6].response.status',
  ])
})

test('a matcher that cannot match is refused', () => {
  const output = (value: unknown) => problems({ name: 'One', expect: { output: { list: [value] } } })
  expect(output({ $any: 'text' })).toEqual(['tests[0].expect.output.list[0]'])
  expect(output({ $match: '(' })).toEqual(['tests[0].expect.output.list[0]'])
  expect(output({ $match: 'a'.repeat(1_001) })).toEqual(['tests[0].expect.output.list[0]'])
  expect(output({ $match: '^o-\\d+$' })).toEqual([])
  expect(output({ $any: 'number' })).toEqual([])
  expect(problems({ name: 'One', expect: { calls: [{ method: 'GET', url: { $match: '[' } }] } })).toEqual([
    'tests[0].expect.calls[0].url',
  ])
})
