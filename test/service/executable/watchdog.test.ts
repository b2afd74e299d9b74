import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/executable.ts'
import { init, serve } from '../../support/running-service.ts'

test('a service that was suspended for longer than the watchdog waits goes on', async () => {
  using folder = temporaryFolder()
  await init(folder.path)
  const service = await serve(folder.path, { MILLRACE_WATCHDOG_MS: '1500' })
  await Bun.sleep(1_000)
  process.kill(service.pid, 'SIGSTOP')
  await Bun.sleep(4_000)
  process.kill(service.pid, 'SIGCONT')
  await Bun.sleep(2_500)
  expect((await fetch(`${service.url}/health/live`)).status).toBe(200)
  expect(await service.kill('SIGTERM')).toBe(0)
  expect(service.errors()).not.toContain('stuck')
}, 60_000)
