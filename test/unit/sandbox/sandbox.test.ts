import { afterAll, expect, test } from 'bun:test'
import type { ProgramOutcome } from '../../../src/domain/run/program.ts'
import { finish, type InSlices } from '../../../src/domain/slices.ts'
import { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { ok, patience, run, Sandboxes } from '../../support/sandbox/sandboxes.ts'

const sandboxes = new Sandboxes()
afterAll(() => sandboxes.stop())

test('repeated runs of a program give their results', async () => {
  const sandbox = sandboxes.start()
  for (let x = 0; x < 100; x++) expect(await run(sandbox, 'return a.x + 1', { x })).toEqual(ok(x + 1))
})

test('each of 200 simultaneous runs of many programs gets its own outcome', async () => {
  const sandbox = sandboxes.start({ workersMax: 3 })
  const kinds = [
    (n: number) => ({ source: 'return a * 2', expected: ok(n * 2) }),
    (n: number) => ({ source: `return a + ${n}`, expected: ok(n + n) }),
    () => ({ source: 'await null; console.log("n", a); return null', expected: expect.objectContaining({ ok: true }) }),
    () => ({ source: 'throw new Error("n" + a)', expected: expect.objectContaining({ code: 'CODE_ERROR' }) }),
    (n: number) => ({ source: 'let s = 0; for (let i = 0; i < 2e4; i++) s += a; return s', expected: ok(n * 2e4) }),
    (n: number) => ({ source: 'return { a, big: "x".repeat(1e5).length }', expected: ok({ a: n, big: 1e5 }) }),
  ]
  const runs = Array.from({ length: 200 }, async (_, n) => {
    const { source, expected } = kinds[n % kinds.length]!(n)
    return { outcome: await run(sandbox, source, n), expected }
  })
  for (const { outcome, expected } of await Promise.all(runs)) expect(outcome).toEqual(expected)
})

test('more programs run than a worker remembers', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  const all = Array.from({ length: 1_200 }, (_, n) => run(sandbox, `return ${n}`))
  const outcomes = await Promise.all(all)
  expect(outcomes).toEqual(outcomes.map((_, n) => ok(n)))
  expect(await run(sandbox, 'return 0')).toEqual(ok(0))
})

test('endless code is stopped at its time limit, with its output until then', async () => {
  const sandbox = sandboxes.start({ workersMax: 1, clock: patience })
  expect(await run(sandbox, 'console.log("on"); for (;;);', null, { timeoutMs: 300 })).toEqual({
    ok: false,
    code: 'TIMEOUT',
    message: 'The code ran longer than 300 ms, the most it may take.',
    stdout: 'on',
  })
  expect(await run(sandbox, 'return 1')).toEqual(ok(1))
})

test('a worker that exceeds a deadline is replaced, and the runs that wait for it are not lost', async () => {
  const workerUrl = new URL('./timeless-worker.ts', import.meta.url)
  const sandbox = sandboxes.start({ workersMax: 1, workerUrl })
  expect(await run(sandbox, 'return 1')).toEqual(ok(1))
  for (let time = 0; time < 3; time++) {
    const stuck = run(sandbox, 'for (;;);', null, { timeoutMs: 50 })
    const others = Array.from({ length: 150 }, (_, n) => run(sandbox, 'return a', n))
    expect(await stuck).toEqual({
      ok: false,
      code: 'TIMEOUT',
      message: 'The code ran longer than 50 ms, the most it may take.',
      stdout: '',
    })
    expect(await Promise.all(others)).toEqual(others.map((_, n) => ok(n)))
  }
})

test('runs that were sent together with a long one do not wait for it', async () => {
  const sandbox = sandboxes.start({ workersMax: 2 })
  const ending = new AbortController()
  const before = Array.from({ length: 5 }, (_, n) => run(sandbox, 'return a', n))
  const stuck = run(sandbox, 'for (;;);', null, { timeoutMs: 60_000, signal: ending.signal })
  const behind = Array.from({ length: 100 }, (_, n) => run(sandbox, 'return a', n))
  // These return although the endless one continues.
  expect(await Promise.all(before)).toEqual(before.map((_, n) => ok(n)))
  expect(await Promise.all(behind)).toEqual(behind.map((_, n) => ok(n)))
  ending.abort()
  expect((await stuck).ok).toBe(false)
})

test('runs whose results a busy worker cannot return are repeated in another one', async () => {
  // This worker posts no outcomes while it executes a run.
  const workerUrl = new URL('./timeless-worker.ts', import.meta.url)
  const sandbox = sandboxes.start({ workersMax: 2, workerUrl })
  await run(sandbox, 'return 1')
  const ending = new AbortController()
  const shorts = Array.from({ length: 5 }, (_, n) => run(sandbox, 'return a', n))
  const long = run(sandbox, 'for (;;);', null, { timeoutMs: 60_000, signal: ending.signal })
  expect(await Promise.all(shorts)).toEqual(shorts.map((_, n) => ok(n)))
  ending.abort()
  expect(await long).toMatchObject({ code: 'CANCELLED' })
})

test('results return although the only worker is busy with a long run', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  const ending = new AbortController()
  const short = run(sandbox, 'return 1')
  const long = run(sandbox, 'for (;;);', null, { timeoutMs: 60_000, signal: ending.signal })
  expect(await short).toEqual(ok(1))
  ending.abort()
  expect(await long).toMatchObject({ code: 'CANCELLED' })
})

test('a signal cancels a run before it starts, while it waits, and while it runs', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  const cancelled: ProgramOutcome = {
    ok: false,
    code: 'CANCELLED',
    message: 'The run was stopped before the code ended.',
    stdout: '',
  }
  expect(await run(sandbox, 'return 1', null, { signal: AbortSignal.abort() })).toEqual(cancelled)
  for (const endless of ['for (;;);', '[].reverse.call({ length: 2 ** 53 - 1 })']) {
    const running = new AbortController()
    const waiting = new AbortController()
    const first = run(sandbox, endless, null, { timeoutMs: 60_000, signal: running.signal })
    const second = run(sandbox, 'return 2', null, { signal: waiting.signal })
    const third = run(sandbox, 'return 3')
    waiting.abort()
    expect(await second).toEqual(cancelled)
    running.abort()
    expect(await first).toEqual(cancelled)
    expect(await third).toEqual(ok(3))
  }
})

test('long computations are spread over the workers', async () => {
  const sandbox = sandboxes.start({ workersMax: 2 })
  const source = 'const end = Date.now() + 100; while (Date.now() < end); return [end - 100, Date.now()]'
  for (let overlaps = 0; overlaps < 2; ) {
    const spans = (await Promise.all(Array.from({ length: 6 }, () => run(sandbox, source)))).map((outcome) => {
      if (!outcome.ok) throw new Error(outcome.message)
      return outcome.result as [startMs: number, endMs: number]
    })
    // There may be none while the second worker starts.
    overlaps = spans.filter(([start, end], n) => spans.some(([a, b], m) => m !== n && a < end && start < b)).length
  }
})

test('memory bombs leave the process small', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  await run(sandbox, 'return 1')
  const before = process.memoryUsage.rss()
  for (let time = 0; time < 3; time++) {
    for (const source of [
      'const l = []; for (;;) l.push(new Uint8Array(1e6))',
      'const l = []; for (;;) l.push([1, 2])',
    ]) {
      expect(await run(sandbox, source)).toMatchObject({ code: 'MEMORY_EXCEEDED' })
    }
  }
  expect(await run(sandbox, 'return 1')).toEqual(ok(1))
  expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1_048_576)
})

test('a smaller memory limit holds, and the message names it', async () => {
  const sandbox = sandboxes.start({ workersMax: 1, memoryBytesMax: 8 * 1_048_576 })
  expect(await run(sandbox, 'return new Uint8Array(9 * 1048576).length')).toMatchObject({
    code: 'MEMORY_EXCEEDED',
    message: 'The code needs more than 8 MB of memory, the most it may use.',
  })
  expect(await run(sandbox, 'return new Uint8Array(4 * 1048576).length')).toEqual(ok(4 * 1_048_576))
})

test('values that are not JSON data give a failure, not an exception', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  expect(await run(sandbox, 'return a', 1n)).toMatchObject({ code: 'CODE_ERROR' })
  expect(await run(sandbox, 'return a', undefined)).toEqual(ok(null))
})

test('a sandbox that cannot start fails its runs with the reason', async () => {
  const noFile = new URL('./no-such-worker.ts', import.meta.url)
  for (const sandbox of [sandboxes.start({ memoryBytesMax: 1_000 }), sandboxes.start({ workerUrl: noFile })]) {
    for (const outcome of await Promise.all([run(sandbox, 'return 1'), run(sandbox, 'return 2')])) {
      expect(outcome).toMatchObject({ code: 'CODE_ERROR', message: expect.stringContaining('The sandbox failed') })
    }
    expect(await run(sandbox, 'return 1')).toMatchObject({ code: 'CODE_ERROR' })
  }
})

test('values larger than the memory are refused without being sent', async () => {
  const sandbox = sandboxes.start({ workersMax: 1, memoryBytesMax: 4 * 1_048_576 })
  expect(await run(sandbox, 'return 1', 'x'.repeat(5 * 1_048_576))).toMatchObject({ code: 'MEMORY_EXCEEDED' })
  // Written as JSON, these would take all memory of the service.
  const text = 'x'.repeat(3 * 1_048_576)
  expect(await run(sandbox, 'return 1', Array(10_000).fill(text))).toMatchObject({ code: 'MEMORY_EXCEEDED' })
})

test('five megabytes pass through a worker and back', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  const value = {
    text: 'ä€😀x\u0000"\\'.repeat(400_000),
    list: Array.from({ length: 20_000 }, (_, index) => ({ index })),
  }
  expect(await run(sandbox, 'return a', value)).toEqual(ok(value))
})

test('large values are written and read in slices', async () => {
  let works = 0
  const inSlices: InSlices = async (slices) => {
    works += 1
    return finish(slices)
  }
  const sandbox = sandboxes.start({ inSlices })
  const large = 'x'.repeat(1_000_000)
  expect(await run(sandbox, 'return a.length', large)).toEqual(ok(1_000_000))
  expect(works).toBe(1)
  expect(await run(sandbox, 'return "x".repeat(a)', 1_000_000)).toEqual(ok(large))
  expect(works).toBe(2)
  expect(await run(sandbox, 'return a', 'small')).toEqual(ok('small'))
  expect(works).toBe(2)
})

test('a run whose caller leaves while its values are written does not start', async () => {
  const written = Promise.withResolvers<void>()
  const inSlices: InSlices = async (slices) => {
    await written.promise
    return finish(slices)
  }
  const sandbox = sandboxes.start({ inSlices })
  const outcome = run(sandbox, 'return 1', 'x'.repeat(1_000_000))
  await sandbox.stop()
  written.resolve()
  expect(await outcome).toMatchObject({ code: 'CANCELLED' })
})

test('stopping cancels running, waiting and later runs', async () => {
  const sandbox = new Sandbox({ workersMax: 1 })
  await run(sandbox, 'return 1')
  const outcomes = [run(sandbox, 'for (;;);'), run(sandbox, 'for (;;) await null'), run(sandbox, 'return 1')]
  await sandbox.stop()
  for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ code: 'CANCELLED' })
  expect(await run(sandbox, 'return 1')).toMatchObject({ code: 'CANCELLED' })
  await sandbox.stop()
})

test('stopping works while the sandbox is starting, and when it was never used', async () => {
  const starting = new Sandbox()
  starting.warm()
  const early = run(starting, 'return 1')
  await starting.stop()
  expect(await early).toMatchObject({ code: 'CANCELLED' })
  await new Sandbox().stop()
})
