import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

/** Writes files into a new folder, runs `millrace test` there, and returns what it printed. */
async function runTests(files: Readonly<Record<string, unknown>>, ...words: string[]) {
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  for (const [name, content] of Object.entries(files)) writeFileSync(at(name), JSON.stringify(content))
  const terminal = new MemoryTerminal({})
  const here = words.map((word) => (word.endsWith('.xml') ? at(word) : word))
  const code = await runCommandLine(['test', folder.path, ...here], { terminal, environment: {} })
  const read = (name: string) => readFileSync(at(name), 'utf8')
  const written = Object.fromEntries(Object.keys(files).map((name) => [name, JSON.parse(read(name)) as unknown]))
  const xml = words.includes('results.xml') ? read('results.xml') : ''
  return { code, out: terminal.out.replaceAll(`${folder.path}/`, ''), words: terminal.words, written, xml }
}

const inputFormat = [{ name: 'id', type: 'string', value: '1' }]
const orders = document({
  name: 'Orders',
  blocks: [
    block('start', 'api_trigger', { inputFormat }, { name: 'Start' }),
    block('fetch', 'api', { url: 'https://shop.example/orders/<start.id>' }, { name: 'Fetch' }),
    block('sum', 'function', { code: 'return <fetch.data.items>.length' }, { name: 'Sum' }),
  ],
  edges: ['start > fetch', 'fetch > sum'],
})
const answer = (items: readonly number[], id = '1') => ({
  request: { method: 'GET', url: `https://shop.example/orders/${id}` },
  response: { status: 200, data: { items } },
})
const two = { name: 'Two', mocks: [answer([1, 2])], expect: { output: { result: 2 } } }
const three = { name: 'Three', mocks: [answer([1, 2])], expect: { output: { result: 3 } } }
const files = (...tests: readonly unknown[]) => ({ 'orders.json': orders, 'orders.test.json': { tests } })

describe('exit codes', () => {
  test('0 when all tests pass', async () => {
    const { code, out } = await runTests(files(two))
    expect(out).toMatch(/^orders\.test\.json\n {2}✓ Two \(\d+ ms\)\n1 passed in [\d.]+ s\n$/)
    expect(code).toBe(0)
  })

  test('1 when a test fails, with the difference', async () => {
    const { code, out } = await runTests(files(two, three))
    expect(out).toContain('✗ Three\n      output.result is not as expected.\n        - 3\n        + 2\n')
    expect(out).toContain('1 passed, 1 failed')
    expect(code).toBe(1)
  })

  test('1 when a file has no valid tests, and the other files are tested all the same', async () => {
    const { code, out } = await runTests({ ...files(two), 'broken.test.json': { tests: [{ name: 'No expectation' }] } })
    expect(out).toContain('broken.test.json\n  ✗ tests[0].expect ')
    expect(out).toContain('1 passed, 1 file could not be tested')
    expect(code).toBe(1)
  })

  test('2 when there is nothing to test', async () => {
    const { code, words } = await runTests({ 'orders.json': orders })
    expect(words).toContain('There are no .test.json files')
    expect(code).toBe(2)
  })
})

test('a request without a mock fails the test, and the report has the mock to add', async () => {
  const { code, out } = await runTests(files({ ...two, mocks: [answer([1], '2')] }))
  expect(out).toContain('No mock answers the request of "Fetch": GET https://shop.example/orders/1')
  expect(out).toContain('"mocks": {"request":{"method":"GET","url":"https://shop.example/orders/1"},')
  expect(code).toBe(1)
})

test('--json prints one document with every result', async () => {
  const { out, code } = await runTests(files(two, three), '--json')
  const report = JSON.parse(out) as { passed: number; failed: number; files: [{ results: unknown[] }] }
  expect(report).toMatchObject({ passed: 1, failed: 1, stale: 0, updated: 0, brokenFiles: 0 })
  expect(report.files[0].results).toMatchObject([
    { name: 'Two', status: 'passed', differences: [] },
    { name: 'Three', status: 'failed', differences: [{ path: 'output.result', expected: 3, actual: 2 }] },
  ])
  expect(code).toBe(1)
})

test('--junit writes XML that survives any text in a name', async () => {
  const name = `<&"'>\n\u0000]]> 😀`
  const { xml, out } = await runTests(files(two, { ...three, name }), '--junit', 'results.xml')
  expect(xml).toContain('<testsuites name="millrace test" tests="2" failures="1" errors="0"')
  const names: string[] = []
  const failures: string[] = []
  await new HTMLRewriter()
    .on('testcase', { element: (element) => void names.push(element.getAttribute('name') ?? '') })
    .on('failure', { element: (element) => void failures.push(element.getAttribute('message') ?? '') })
    .transform(new Response(xml))
    .text()
  expect(names).toHaveLength(2)
  expect(names[1]).toBe("&lt;&amp;&quot;'&gt;&#10;\uFFFD]]&gt; 😀")
  expect(failures).toEqual(['output.result is not as expected.'])
  expect(out).toContain('1 passed, 1 failed')
})

test('--update rewrites only the expectations of tests that failed, and keeps matchers that fit', async () => {
  const varied = { name: 'Varied', mocks: [answer([1])], expect: { output: { result: { $any: 'number' } } }, seed: 3 }
  const wrong = { ...three, expect: { output: { result: 3 }, path: ['Start', 'Sum'], success: false } }
  const { code, out, written } = await runTests(files(two, varied, wrong), '--update')
  expect(out).toContain('✗ Three – updated')
  expect(code).toBe(0)
  const expected = { output: { result: 2 }, path: ['Start', 'Fetch', 'Sum'], success: true }
  expect(written['orders.test.json']).toEqual({ tests: [two, varied, { ...wrong, expect: expected }] })
})

test('a renamed block makes a test stale with a proposal, which --update applies', async () => {
  const old = { ...two, mocks: [{ block: 'Fetch order', response: answer([1, 2]).response }] }
  const before = await runTests(files(old))
  expect(before.out).toContain(
    '✗ Two (stale)\n      The draft has no block "Fetch order". It is probably called "Fetch" now.',
  )
  expect(before.code).toBe(1)
  const { written } = await runTests(files(old), '--update')
  expect(written['orders.test.json']).toEqual({ tests: [{ ...old, mocks: [{ ...old.mocks[0], block: 'Fetch' }] }] })
})

test('a workflow that another one calls comes from the document beside it', async () => {
  const outer = document({
    blocks: [
      block('start', 'api_trigger', { inputFormat }),
      block('call', 'workflow', { workflowId: 'Orders', input: { id: '5' } }),
    ],
    edges: ['start > call'],
  })
  const one = { name: 'Calls', mocks: [answer([1, 2, 3], '5')], expect: { output: { output: { result: 3 } } } }
  const { out, code } = await runTests({
    'orders.json': orders,
    'outer.json': outer,
    'outer.test.json': { tests: [one] },
  })
  expect(out).toContain('✓ Calls')
  expect(code).toBe(0)
})
