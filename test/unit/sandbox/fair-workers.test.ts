import { afterAll, expect, test } from 'bun:test'
import { ok, run, Sandboxes } from '../../support/sandbox/sandboxes.ts'

const sandboxes = new Sandboxes()
afterAll(() => sandboxes.stop())

const endless = 'for (;;);'

test('endless code of one workspace does not make another one wait until all of it has ended', async () => {
  const sandbox = sandboxes.start()
  expect(await run(sandbox, 'return 1')).toEqual(ok(1))
  let ended = 0
  const loops = Array.from({ length: 12 }, async () => {
    const outcome = await run(sandbox, endless, null, { timeoutMs: 1_000, workspaceId: 'bob' })
    ended += 1
    return outcome
  })
  await Bun.sleep(200)
  expect(await run(sandbox, 'return a', 7, { workspaceId: 'alice' })).toEqual(ok(7))
  // Four workers take four loops at a time. In one line, nine of them would have ended before a worker is free.
  expect(ended).toBeLessThan(9)
  for (const outcome of await Promise.all(loops)) expect(outcome).toMatchObject({ code: 'TIMEOUT' })
}, 60_000)

test('a run that yielded its worker starts again and ends with its result', async () => {
  const sandbox = sandboxes.start({ workersMax: 2 })
  const long = 'const end = Date.now() + 600; while (Date.now() < end); return a'
  const ending = new AbortController()
  const first = run(sandbox, endless, null, { signal: ending.signal, workspaceId: 'bob' })
  await Bun.sleep(100)
  const second = run(sandbox, long, 2, { workspaceId: 'bob' })
  await Bun.sleep(100)
  expect(await run(sandbox, 'return a', 3, { workspaceId: 'alice' })).toEqual(ok(3))
  ending.abort()
  expect(await second).toEqual(ok(2))
  expect(await first).toMatchObject({ code: 'CANCELLED' })
}, 60_000)

test('a workspace alone uses all workers', async () => {
  const sandbox = sandboxes.start({ workersMax: 2 })
  const ending = new AbortController()
  const loops = [1, 2].map(() => run(sandbox, endless, null, { signal: ending.signal, workspaceId: 'bob' }))
  const waiting = run(sandbox, 'return 1', null, { workspaceId: 'bob' })
  while (sandbox.load().workers < 2 || sandbox.load().waiting < 1) await Bun.sleep(10)
  expect(await Promise.race([waiting, Bun.sleep(300)])).toBeUndefined()
  ending.abort()
  expect(await waiting).toEqual(ok(1))
  await Promise.all(loops)
}, 60_000)
