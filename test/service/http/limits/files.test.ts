import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { Gate } from '../../../support/gate.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

const item = { type: 'file', data: 'data:text/plain;base64,aGVsbG8=', name: 'a.txt' }
const named = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="a.png"' }

test.each([
  ['the execute endpoint', 'skip', 'sync'],
  ['the execute endpoint', 'refuse', 'async'],
  ['a webhook', 'skip', 'async'],
  ['a webhook', 'refuse', 'sync'],
] as const)('requests to %s that the limits %s (%s) leave no files behind', async (to, beyond, mode) => {
  const gate = new Gate()
  const world = await ExecutionWorld.open({ 'body-bytes-max-files': '1 MB', 'outbound-allow': 'loopback' })
  const isWebhook = to === 'a webhook'
  const respond = mode === 'sync' ? 'workflow' : 'immediately'
  const start = isWebhook
    ? block('start', 'webhook_trigger', { path: 'files', respond, authentication: { type: 'none' } })
    : block('start', 'api_trigger', { inputFormat: [{ name: 'docs', type: 'files' }] })
  const id = await world.deploy(
    document({
      blocks: [start, block('ask', 'api', { url: `${gate.url}/files` })],
      edges: ['start > ask'],
      limits: { concurrency: 1, beyond },
    }),
  )
  const headers = mode === 'async' ? { 'x-execution-mode': 'async' } : {}
  const send = () =>
    isWebhook
      ? world.call('/api/webhooks/trigger/files', { text: 'x', headers: named, key: null })
      : world.call(`/api/workflows/${id}/execute`, { body: { docs: [item] }, headers })
  const first = send()
  await gate.arrivals(1)
  for (let count = 0; count < 3; count += 1) expect((await send()).status).toBe(beyond === 'skip' ? 202 : 429)
  expect([...new Glob('files/**/a.*').scanSync(world.folder)]).toHaveLength(1)
  gate.answerAll()
  await first
  await world.close()
  await gate.stop()
})
