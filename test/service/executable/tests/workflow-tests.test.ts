import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { executable, millrace, temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { init, serve } from '../../../support/running-service.ts'

const inputFormat = [{ name: 'id', type: 'string', value: '1' }]
const ordersOf = (shop: string, fetchName = 'Fetch') =>
  document({
    name: 'Orders',
    blocks: [
      block('start', 'api_trigger', { inputFormat }, { name: 'Start' }),
      block('fetch', 'api', { url: `${shop}/orders/<start.id>` }, { name: fetchName }),
      block(
        'sum',
        'function',
        { code: 'return { count: <fetch.data.items>.length, at: Date.now() }' },
        { name: 'Sum' },
      ),
    ],
    edges: ['start > fetch', 'fetch > sum'],
  })
const write = (path: string, value: unknown) => writeFileSync(path, JSON.stringify(value))
const one = (count: number) => ({
  name: `${count} items`,
  mocks: [{ block: 'Fetch', response: { status: 200, data: { items: [1, 2] } } }],
  expect: { output: { result: { count } } },
})

test('millrace test reports, updates and exits as scripts expect', async () => {
  using folder = temporaryFolder()
  write(join(folder.path, 'orders.json'), ordersOf('https://shop.example'))
  const run = (...words: string[]) => millrace(['test', ...words], { cwd: folder.path })
  expect(await run()).toMatchObject({ code: 2, words: expect.stringContaining('There are no .test.json files') })
  write(join(folder.path, 'orders.test.json'), { tests: [one(2), one(3)] })
  const failed = await run('--junit', 'results.xml')
  expect(failed).toMatchObject({
    code: 1,
    out: expect.stringContaining('result.count is not as expected.\n        - 3\n        + 2'),
  })
  expect(readFileSync(join(folder.path, 'results.xml'), 'utf8')).toContain('tests="2" failures="1"')
  expect((await run('--update')).code).toBe(0)
  expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('2 passed in') })
})

test('millrace test opens no socket, even for requests without a mock', async () => {
  using folder = temporaryFolder()
  const connections: unknown[] = []
  using server = Bun.serve({
    port: 0,
    fetch(request) {
      connections.push(request.url)
      return Response.json({ items: [1] })
    },
  })
  write(join(folder.path, 'orders.json'), ordersOf(server.url.origin))
  write(join(folder.path, 'orders.test.json'), { tests: [one(2), { name: 'No mock', expect: {} }] })
  const strace = Bun.which('strace')
  const traced = strace ? [strace, '-f', '-qq', '-e', 'trace=socket,connect', '-o', join(folder.path, 'trace')] : []
  const child = Bun.spawn([...traced, executable(), 'test', folder.path, '--outbound-allow', 'loopback'], {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const out = await new Response(child.stdout).text()
  expect(await child.exited).toBe(1)
  expect(out).toContain('✓ 2 items')
  expect(out).toContain(`No mock answers the request of "Fetch": GET ${server.url.origin}/orders/1`)
  expect(connections).toEqual([])
  const sockets = strace ? readFileSync(join(folder.path, 'trace'), 'utf8').match(/socket\(.*|connect\(.*/g) : null
  expect(sockets).toBeNull()
})

test('millrace test --from-run writes a test that passes beside the exported document, without secrets', async () => {
  using folder = temporaryFolder()
  const secret = 'a-secret-that-nobody-may-see'
  using server = Bun.serve({
    port: 0,
    fetch: () => Response.json({ items: [1, 2, 3], token: secret }, { headers: { 'x-page': '1' } }),
  })
  const data = join(folder.path, 'data')
  const { apiKey } = await init(data)
  await millrace(['env', 'set', 'TOKEN', '--data', data, secret])
  const service = await serve(data, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  try {
    const environment = { MILLRACE_URL: service.url, MILLRACE_API_KEY: apiKey }
    const call = (...words: string[]) => millrace(words, { cwd: folder.path, environment })
    write(join(folder.path, 'orders.json'), ordersOf(server.url.origin))
    const pushed = await call('workflows', 'push', 'orders.json', '--deploy', '--json')
    const [{ id }] = JSON.parse(pushed.out) as [{ id: string }]
    const ran = JSON.parse((await call('run', id, '--input', '{"id":"7"}', '--json')).out) as { executionId: string }
    const from = (...words: string[]) => call('test', '--from-run', ran.executionId, ...words)
    expect(await from('--out', 'orders.json')).toMatchObject({ code: 2 })
    expect(await from('--out', 'orders.test.json')).toMatchObject({ code: 0, words: '' })
    expect(await from('--out', 'orders.test.json', '--name', 'Again')).toMatchObject({ code: 0 })
    const written = readFileSync(join(folder.path, 'orders.test.json'), 'utf8')
    expect(written).not.toContain(secret)
    const { tests } = JSON.parse(written) as { tests: [Record<string, unknown>, { name: string }] }
    expect(tests[1].name).toBe('Again')
    expect(tests[0]).toMatchObject({
      input: { id: '7' },
      mocks: [{ block: 'Fetch', response: { status: 200, headers: { 'x-page': '1' }, data: { items: [1, 2, 3] } } }],
      expect: { success: true, output: { result: { count: 3 } }, path: ['Start', 'Fetch', 'Sum'] },
    })
    expect(await call('test')).toMatchObject({ code: 0, out: expect.stringContaining('2 passed') })
    // The tests of the workflow on the service stay as they are.
    expect((await call('workflows', 'export', '--out', 'exported', id)).code).toBe(0)
    expect(existsSync(join(folder.path, 'exported', 'Orders.test.json'))).toBe(false)
  } finally {
    await service.kill('SIGTERM')
  }
}, 60_000)
