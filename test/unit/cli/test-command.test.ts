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

test('--update replaces matchers without a match, raises a limit for the cost, and leaves requests without a mock', async () => {
  const matched = {
    ...two,
    name: 'Matched',
    expect: { output: { result: 2 }, calls: [{ method: 'GET', url: { $match: '^http:' } }] },
  }
  const unanswered = { ...two, name: 'Unanswered', mocks: [] }
  const { code, out, written } = await runTests(files(matched, unanswered), '--update')
  expect(out).toContain('2 failed, 1 updated')
  expect(code).toBe(1)
  const calls = [{ method: 'GET', url: 'https://shop.example/orders/1' }]
  expect(written['orders.test.json']).toEqual({
    tests: [{ ...matched, expect: { output: { result: 2 }, calls } }, unanswered],
  })
  const limited = { ...two, mocks: [{ block: 'Fetch', output: { data: { items: [1, 2] }, cost: { total: 0.4 } } }] }
  const raised = await runTests(files({ ...limited, expect: { costBelow: 0.2 } }), '--update')
  expect(raised.written['orders.test.json']).toEqual({ tests: [{ ...limited, expect: { costBelow: 0.5 } }] })
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

describe('mocks', () => {
  const user = [{ role: 'user', content: 'Hi' }]
  const model = { provider: 'openai', model: 'gpt-4o', apiKey: '{{OPENAI_API_KEY}}', messages: user }
  const asked = document({
    name: 'Asked',
    blocks: [block('start', 'api_trigger', { inputFormat }), block('ask', 'agent', model)],
    edges: ['start > ask'],
  })
  const ask = async (mocks: readonly unknown[], expected: Record<string, unknown>) => {
    const { out } = await runTests({
      'asked.json': asked,
      'asked.test.json': { tests: [{ name: 'Asks', mocks, expect: expected }] },
    })
    return out
  }

  test('a response to a block that calls a model is the text of the model', async () => {
    const out = await ask([{ block: 'ask', response: { status: 200, data: 'Hello' } }], {
      output: { content: 'Hello' },
      calls: [{ method: 'MODEL', url: 'openai/gpt-4o' }],
    })
    expect(out).toContain('✓ Asks')
  })

  test('the mock of another block does not answer a model', async () => {
    const out = await ask([{ block: 'start', response: { status: 200, data: 'Hello' } }], {})
    expect(out).toContain('No mock answers the request of "ask": MODEL openai/gpt-4o')
  })

  test('costBelow counts the tokens of mocked models, and the costs in mocked outputs', async () => {
    const tokens = { prompt: 1_000_000, completion: 0, total: 1_000_000 }
    const called = [{ block: 'ask', response: { status: 200, data: { content: 'Hello', tokens } } }]
    expect(await ask(called, { costBelow: 0.01 })).toMatch(/The run cost too much\.\n {8}- "below 0\.01"\n {8}\+ \d/)
    expect(await ask(called, { costBelow: 100 })).toContain('✓ Asks')
    const given = [{ block: 'ask', output: { content: 'Hello', cost: { total: 0.5 } } }]
    expect(await ask(given, { costBelow: 0.5 })).toContain('The run cost too much.')
    expect(await ask(given, { costBelow: 0.51 })).toContain('✓ Asks')
  })

  test('pinned outputs of the document are used, unless a mock names the block', async () => {
    const pinned = { ...orders, mocks: [{ block: 'fetch', output: { data: { items: [1, 2, 3] } } }] }
    const from = (tests: readonly unknown[]) => runTests({ 'orders.json': pinned, 'orders.test.json': { tests } })
    expect((await from([{ name: 'Pinned', expect: { output: { result: 3 }, calls: [] } }])).out).toContain('✓ Pinned')
    const named = { ...two, mocks: [{ block: 'Fetch', response: answer([1, 2]).response }] }
    expect((await from([named])).out).toContain('✓ Two')
  })

  test('several responses to the same request answer in turn, and * stands for any text in an address', async () => {
    const fetches = (id: string) => block(id, 'api', { url: 'https://shop.example/items?page=1&of=<start.id>' })
    const twice = document({
      blocks: [block('start', 'api_trigger', { inputFormat }), fetches('a'), fetches('b'), fetches('c')],
      edges: ['start > a', 'a > b', 'b > c'],
    })
    const page = (data: number) => ({
      request: { url: 'https://shop.example/items?*' },
      response: { status: 200, data },
    })
    const one = { name: 'Pages', mocks: [page(1), page(2)], expect: { output: { data: 2 } } }
    expect((await runTests({ 'a.json': twice, 'a.test.json': { tests: [one] } })).out).toContain('✓ Pages')
  })
})

describe('time and randomness', () => {
  const code = 'return { now: Date.now(), at: new Date().toISOString(), random: Math.random() }'
  const noted = document({
    blocks: [
      block('start', 'api_trigger', { inputFormat }),
      block('pause', 'wait', { for: '3 days' }),
      block('note', 'function', { code }),
    ],
    edges: ['start > pause', 'pause > note'],
  })

  test('are fixed by now and seed, and a wait takes no time', async () => {
    const now = '2026-05-04T03:02:01.000Z'
    const tests = [
      { name: 'First', now, seed: 7, expect: { output: { result: {} } } },
      { name: 'Second', now, seed: 7, expect: { output: { result: {} } } },
      { name: 'Other', now, seed: 8, expect: { output: { result: {} } } },
    ].map((each) => ({ ...each, expect: { output: { result: { at: '', random: -1 } } } }))
    const { written, out } = await runTests({ 'a.json': noted, 'a.test.json': { tests } }, '--update')
    expect(out).toContain('3 failed, 3 updated')
    const results = (written['a.test.json'] as { tests: typeof tests }).tests.map(({ expect }) => expect.output.result)
    expect(results[0]).toEqual(results[1] as (typeof results)[0])
    expect(results[0]?.at).toBe('2026-05-07T03:02:01.000Z')
    expect(results[2]?.random).not.toBe(results[0]?.random)
  })
})
