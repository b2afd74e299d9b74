import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { executable, median } from '../support/service.ts'

/**
 * The time of `millrace test`, from exec to exit. Each test runs a trigger, a request, a function in the sandbox, a
 * condition and a response, and checks the path, a pattern and the output. The tests are in files of 20, each beside a
 * document of its own. With strace, a last round counts the sockets that the process opens.
 * `bun bench/micro/workflow-tests.ts [tests] [rounds]`
 */
const [tests = 200, rounds = 5] = process.argv.slice(2).map(Number)
const testsPerFile = 20
const folder = mkdtempSync(join(tmpdir(), 'millrace-tests-'))

function writeFiles(file: number, count: number): void {
  const conditions = [
    { id: 'yes', expression: '<sum.result> > 110' },
    { id: 'no', expression: 'true' },
  ]
  const code = `return <fetch.data.prices>.reduce((sum, price) => sum + price, ${file})`
  const document = {
    name: `Orders ${file}`,
    blocks: {
      start: { type: 'api_trigger', name: 'Start', params: { inputFormat: [{ name: 'id', type: 'number' }] } },
      fetch: { type: 'api', name: 'Fetch', params: { url: 'https://shop.example/orders/<start.id>' } },
      sum: { type: 'function', name: 'Sum', params: { code } },
      large: { type: 'condition', name: 'Large', params: { conditions } },
      answer: { type: 'response', name: 'Answer', params: { data: { total: '<sum.result>' } } },
    },
    edges: [
      { source: 'start', target: 'fetch' },
      { source: 'fetch', target: 'sum' },
      { source: 'sum', target: 'large' },
      { source: 'large', sourceHandle: 'condition-yes', target: 'answer' },
      { source: 'large', sourceHandle: 'condition-no', target: 'answer' },
    ],
  }
  const list = Array.from({ length: count }, (_, index) => ({
    name: `Order ${index}`,
    input: { id: index },
    mocks: [
      {
        request: { method: 'GET', url: `https://shop.example/orders/${index}` },
        response: { status: 200, data: { prices: [index, 100] } },
      },
    ],
    expect: {
      output: { data: { total: file + index + 100 } },
      path: ['Start', 'Fetch', 'Sum', 'Large', 'Answer'],
      calls: [{ method: 'GET', url: { $match: `orders/${index}$` } }],
    },
  }))
  writeFileSync(join(folder, `orders-${file}.json`), JSON.stringify(document))
  writeFileSync(join(folder, `orders-${file}.test.json`), JSON.stringify({ tests: list }))
}

async function runTests(before: readonly string[] = []): Promise<{ ms: number; insideMs: number }> {
  const since = performance.now()
  const child = Bun.spawn([...before, executable, 'test', folder, '--json'], { stdout: 'pipe', stderr: 'inherit' })
  const out = await new Response(child.stdout).text()
  await child.exited
  const ms = performance.now() - since
  const { passed, durationMs } = JSON.parse(out) as { passed: number; durationMs: number }
  if (passed !== tests) throw new Error(`Only ${passed} of ${tests} tests passed: ${out.slice(0, 2_000)}`)
  return { ms, insideMs: durationMs }
}

try {
  for (let file = 0; file * testsPerFile < tests; file += 1) {
    writeFiles(file, Math.min(testsPerFile, tests - file * testsPerFile))
  }
  const times: { ms: number; insideMs: number }[] = []
  for (let round = 0; round < rounds; round += 1) times.push(await runTests())
  const all = times.map(({ ms }) => ms)
  const inside = median(times.map(({ insideMs }) => insideMs))
  console.log(`${tests} tests: ${Math.round(median(all))} ms from exec to exit, median of ${rounds}`)
  console.log(`of these, ${Math.round(inside)} ms for the tests; slowest round ${Math.round(Math.max(...all))} ms`)
  const strace = Bun.which('strace')
  if (strace) {
    const trace = join(folder, 'trace')
    await runTests([strace, '-f', '-qq', '-e', 'trace=socket,connect,sendto', '-o', trace])
    const opened = readFileSync(trace, 'utf8').match(/\b(socket|connect|sendto)\(/g) ?? []
    console.log(`sockets that the process opened or used: ${opened.length}`)
  } else console.log('strace is not installed, so sockets were not counted')
} finally {
  rmSync(folder, { recursive: true })
}
