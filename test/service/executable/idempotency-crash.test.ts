import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { deploy, init, serve } from '../../support/running-service.ts'

test('a key whose run was lost in a crash is free again, and one whose log entry is on disk replays', async () => {
  using folder = temporaryFolder()
  const { apiKey } = await init(folder.path)
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const send = (url: string, path: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const slow = document({
    blocks: [block('start', 'api_trigger', { inputFormat: [] }), block('w', 'wait', { ms: 1_000 })],
    edges: ['start > w'],
  })

  const first = await serve(folder.path)
  const { id } = (await (await send(first.url, '/api/workflows', slow)).json()) as { id: string }
  expect((await send(first.url, `/api/workflows/${id}/deploy`, {})).status).toBe(200)
  const execute = (url: string) => send(url, `/api/workflows/${id}/execute`, {}, { 'idempotency-key': 'k' })
  // Either of the two may run. The other one gets 409, and shows that the run is in progress.
  const both = [1, 2].map(() => execute(first.url).catch(() => undefined))
  expect((await Promise.race(both))?.status).toBe(409)
  await first.kill('SIGKILL')
  await Promise.all(both)

  const second = await serve(folder.path)
  // On PostgreSQL, the key is free as soon as the other processes know that its process has died.
  let run = await execute(second.url)
  while (run.status === 409) {
    await Bun.sleep(50)
    run = await execute(second.url)
  }
  const body = await run.text()
  expect([run.status, run.headers.get('idempotent-replayed')]).toEqual([200, null])
  await second.kill('SIGKILL')

  const third = await serve(folder.path)
  const repeat = await execute(third.url)
  expect([repeat.status, repeat.headers.get('idempotent-replayed'), await repeat.text()]).toEqual([200, 'true', body])
  await third.kill('SIGKILL')
}, 60_000)

const endless = document({
  name: 'Endless',
  blocks: [block('start', 'api_trigger', {}), block('f', 'function', { code: 'for (;;) {}' })],
  edges: ['start > f'],
})

test('an ID for a run stays used when the process is killed while the run is in flight', async () => {
  using folder = temporaryFolder()
  const { apiKey } = await init(folder.path)
  const first = await serve(folder.path)
  const path = new URL(await deploy(first.url, apiKey, endless)).pathname.replace('/api/', '/api/v2/')
  const headers = { 'x-api-key': apiKey, 'x-run-id': 'only-once' }
  const broken = fetch(first.url + path, { method: 'POST', headers, body: '{}' }).catch(() => 'broken off')
  const running = `${first.url}${path.replace('/execute', '/runs')}?status=running`
  for (;;) {
    const { data } = (await (await fetch(running, { headers })).json()) as { data: { runId: string }[] }
    if (data.some(({ runId }) => runId === 'only-once')) break
  }
  await first.kill('SIGKILL')
  expect(await broken).toBe('broken off')
  const second = await serve(folder.path)
  try {
    const again = await fetch(second.url + path, { method: 'POST', headers, body: '{"async":true}' })
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({ error: { code: 'CONFLICT', details: { code: 'RUN_ID_CONFLICT' } } })
  } finally {
    await second.kill('SIGKILL')
  }
}, 60_000)
