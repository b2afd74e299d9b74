import { expect, test } from 'bun:test'

test('cancelled timers do not keep a process alive', async () => {
  const module = new URL('../../../src/domain/timer-lines.ts', import.meta.url).pathname
  const program = `const { TimerLines } = await import(${JSON.stringify(module)}); new TimerLines().add(600_000, () => {}).cancel()`
  expect(await Bun.spawn([process.execPath, '-e', program]).exited).toBe(0)
})
