import { afterAll, expect, test } from 'bun:test'
import { patience, run, Sandboxes } from '../../support/sandbox/sandboxes.ts'

const sandboxes = new Sandboxes()
afterAll(() => sandboxes.stop())

/** Minutes to years of work inside single built-in functions, in which the unmodified engine never checks the time. */
const hogs = [
  '[].reverse.call({ length: 2 ** 53 - 1 })',
  'new Array(4294967295).join()',
  '"a".repeat(2e7).indexOf("a".repeat(1e7) + "b")',
  '"a".repeat(3e5).lastIndexOf("a".repeat(1e5) + "b")',
  'const bytes = new Uint8Array(3e7); for (;;) bytes.indexOf(1)',
  'const bytes = new Uint8Array(3e7); for (;;) bytes.fill(1)',
  'const bytes = new Uint8Array(3e7); for (;;) bytes.copyWithin(1, 0)',
  'for (;;) String((1n << 1000000n) - 1n)',
  'const big = 3n ** 300000n; for (;;) big * big',
  '/(.*)*$/.test("x".repeat(1_000) + "\\n")',
  'for (;;) Array.from({ length: 1e5 }, (_, i) => -i).sort()',
  'for (;;) JSON.stringify("\\u0001".repeat(1e6))',
  'for (;;) "ab".repeat(1e5).replaceAll("a", "bb").split("").join()',
]

for (const hog of hogs) {
  test(`a deadline holds inside built-in functions: ${hog}`, async () => {
    const sandbox = sandboxes.start({ workersMax: 1, clock: patience })
    await run(sandbox, 'return 1')
    const outcome = await run(sandbox, `console.log('on'); ${hog}`, null, { timeoutMs: 300 })
    // Only the engine can have ended it, because the pool never does here.
    expect(outcome).toMatchObject({ code: 'TIMEOUT', stdout: 'on' })
  })
}
