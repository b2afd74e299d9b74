import { afterAll, expect, test } from 'bun:test'
import type { ProgramOutcome } from '../../src/domain/program.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { ok, run, Sandboxes } from './sandboxes.ts'

const sandboxes = new Sandboxes()
afterAll(() => sandboxes.stop())

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** The outcome of a run that is done before anything else can happen, as only one in this thread can be; else null. */
function atOnce(sandbox: Sandbox, source: string, a: unknown): Promise<ProgramOutcome | null> {
  return Promise.race([run(sandbox, source, a), Promise.resolve().then(() => null)])
}

/** Runs a program until it runs in this thread. */
async function shortly(sandbox: Sandbox, source: string, a: unknown): Promise<ProgramOutcome> {
  for (;;) {
    await run(sandbox, source, a)
    await turn()
    const outcome = await atOnce(sandbox, source, a)
    if (outcome) return outcome
  }
}

test('short programs run in this thread once they are known, for a short while, with the same outcomes', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  expect(await shortly(sandbox, 'return a.x + 1', { x: 1 })).toEqual(ok(2))
  // Without an end of the turn the next ones go to a worker soon.
  let more = 0
  while ((await atOnce(sandbox, 'return a.x + 1', { x: 1 })) !== null) more++
  expect(more).toBeLessThan(10_000)
  await turn()
  const failing = await shortly(sandbox, 'console.log(a.x); globalThis.left = 1; throw a.x', { x: 1 })
  expect(failing).toEqual({ ok: false, code: 'CODE_ERROR', message: 'The code threw 1', stdout: '1' })
  expect(await shortly(sandbox, 'return typeof left', null)).toEqual(ok('undefined'))
})

test('a short program that becomes long or large does not hold up this thread, and has its full time and memory', async () => {
  const sandbox = sandboxes.start({ workersMax: 1 })
  const source = 'let n = 0; for (let i = 0; i < a.rounds; i++) n++; return new Uint8Array(a.bytes).length + n'
  expect(await shortly(sandbox, source, { rounds: 1, bytes: 1 })).toEqual(ok(2))
  await turn()
  // Run to its end here it would take minutes.
  const ending = new AbortController()
  const endless = run(sandbox, source, { rounds: 3e9, bytes: 0 }, { timeoutMs: 3_600_000, signal: ending.signal })
  ending.abort()
  expect(await endless).toMatchObject({ code: 'CANCELLED' })
  expect(await shortly(sandbox, source, { rounds: 1, bytes: 1 })).toEqual(ok(2))
  await turn()
  expect(await run(sandbox, source, { rounds: 3e6, bytes: 0 })).toEqual(ok(3e6))
  for (let time = 0; time < 5; time++) {
    expect(await shortly(sandbox, source, { rounds: 1, bytes: 1 })).toEqual(ok(2))
    await turn()
    expect(await run(sandbox, source, { rounds: 0, bytes: 3e7 })).toEqual(ok(3e7))
  }
})
