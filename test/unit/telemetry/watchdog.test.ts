import { expect, test } from 'bun:test'
import { join } from 'node:path'

const source = JSON.stringify(join(import.meta.dir, '../../../src/telemetry/watchdog.ts'))

/** Runs a script in which a watchdog with a limit of 600 ms watches. */
function start(script: string): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
  const before = `
    const { Watchdog } = await import(${source})
    const watchdog = new Watchdog(600)
    watchdog.start()
    const block = (ms) => { for (const until = performance.now() + ms; performance.now() < until; ); }
    await Bun.sleep(1_000)`
  return Bun.spawn([process.execPath, '-e', before + script], { stdout: 'pipe', stderr: 'pipe' })
}

test('a stuck main thread ends the process with 70, and the log says what it started last', async () => {
  const stuck = start(`
    process.on('SIGTERM', () => {})
    watchdog.note('a longer note from before')
    watchdog.note('workflow w block é')
    console.log('stuck')
    block(600_000)`)
  await stuck.stdout.getReader().read()
  stuck.kill('SIGTERM')
  expect(await stuck.exited).toBe(70)
  expect(JSON.parse(await new Response(stuck.stderr).text())).toMatchObject({
    level: 'error',
    message: 'the main thread is stuck, so the process ends',
    stuckMs: 600,
    lastStarted: 'workflow w block é',
  })
}, 60_000)

test('a thread that is busy for a shorter time, or that was suspended, goes on', async () => {
  const busy = start(`
    for (let time = 0; time < 6; time += 1) {
      block(200)
      await Bun.sleep(30)
    }
    console.log('worked')
    await Bun.sleep(1_500)
    console.log('resumed')
    process.exit(0)`)
  const out = busy.stdout.getReader()
  expect(Buffer.from((await out.read()).value!).toString()).toBe('worked\n')
  busy.kill('SIGSTOP')
  await Bun.sleep(2_500)
  busy.kill('SIGCONT')
  expect(Buffer.from((await out.read()).value!).toString()).toBe('resumed\n')
  expect({ code: await busy.exited, errors: await new Response(busy.stderr).text() }).toEqual({ code: 0, errors: '' })
}, 60_000)
