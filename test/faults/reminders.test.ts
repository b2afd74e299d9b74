import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import '../support/built.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { deploy, init, serve } from '../support/running-service.ts'
import { Receiver } from '../support/webhook-receiver.ts'

test('a process that is killed while it sends a reminder repeats only this reminder, with the same key', async () => {
  using folder = temporaryFolder()
  const { apiKey } = await init(folder.path)
  const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback' }
  let held = true
  using receiver = new Receiver(async (_, n) => {
    while (held && n === 2) await Bun.sleep(20)
    return new Response('ok')
  })
  const draft = document({
    name: 'Ask',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [] }),
      block('ask', 'approval', { title: 'Go on?', remindEveryMs: 600_000 }),
      block('send', 'api', { url: receiver.url, method: 'POST', body: { link: '<ask.callbackUrl>' } }),
      block('done', 'function', { code: 'return <ask.approved>' }),
    ],
    edges: ['start > ask', 'ask:notify > send', 'ask > done'],
  })
  const call = async (url: string, path: string, body?: object) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    return (await (await fetch(url + path, init)).json()) as { executionId: string; status: string; output: unknown }
  }

  let service = await serve(folder.path, environment)
  const until = async (executionId: string, status: string) => {
    for (;;) {
      const job = await call(service.url, `/api/jobs/${executionId}`)
      if (job.status === status) return job
      await Bun.sleep(20)
    }
  }
  const { executionId } = await call(service.url, new URL(await deploy(service.url, apiKey, draft)).pathname, {})
  await receiver.arrivals(1)
  await until(executionId, 'paused')
  await service.kill('SIGKILL')
  using database = new Database(join(folder.path, 'millrace.db'), { strict: true })
  // The process has missed two reminders.
  database.run('UPDATE pauses SET remind_at = ?', [Date.now() - 700_000])
  service = await serve(folder.path, environment)
  await receiver.arrivals(2)
  await service.kill('SIGKILL')
  service = await serve(folder.path, environment)
  await receiver.arrivals(3)
  held = false
  await until(executionId, 'paused')
  const { link } = JSON.parse(receiver.received[0]!.body) as { link: string }
  await call(service.url, new URL(link).pathname, { approved: true })
  expect((await until(executionId, 'completed')).output).toMatchObject({ result: true })
  const [first, second, third] = receiver.keys
  expect([receiver.received.length, second === third, first === second]).toEqual([3, true, false])
  expect(database.query('SELECT reminders FROM pauses').all()).toEqual([{ reminders: 1 }])
  await service.kill('SIGTERM')
}, 60_000)
