import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

const item = { type: 'file', data: 'data:text/plain;base64,aGVsbG8=', name: 'a.txt' }

test.each(['the execute endpoint', 'a webhook'])(
  'requests to %s that find no free slot leave no files behind',
  async (to) => {
    const narrow = await ExecutionWorld.open({
      'runs-max': '1',
      'body-bytes-max-files': '1 MB',
      'outbound-allow': 'loopback',
    })
    const opened = Promise.withResolvers<void>()
    const gate = Bun.serve({ port: 0, fetch: () => opened.promise.then(() => Response.json({})) })
    try {
      const named = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="a.png"' }
      const isWebhook = to === 'a webhook'
      const start = isWebhook
        ? block('start', 'webhook_trigger', { path: 'narrow', respond: 'workflow' })
        : block('start', 'api_trigger', { inputFormat: [{ name: 'docs', type: 'files' }] })
      const ask = block('ask', 'api', { url: gate.url.href, method: 'GET', retries: 0 })
      const made = await narrow.deploy(document({ blocks: [start, ask], edges: ['start > ask'] }))
      const send = (index: number) =>
        isWebhook
          ? narrow.call('/api/webhooks/trigger/narrow', { text: 'x', headers: named })
          : narrow.call(`/api/workflows/${made}/execute`, { body: { docs: [item], stream: index % 2 === 0 } })
      let refused = 0
      const statuses = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const { status } = await send(index)
          if (status === 503) refused += 1
          if (refused === 5) opened.resolve()
          return status
        }),
      )
      expect(statuses.sort()).toEqual([200, 503, 503, 503, 503, 503])
      expect([...new Glob('files/**/a.*').scanSync(narrow.folder)]).toHaveLength(1)
    } finally {
      await gate.stop(true)
      await narrow.close()
    }
  },
)

test('a request beyond the file quota of its workspace is refused and leaves no files behind', async () => {
  const world = await ExecutionWorld.open({ 'workspace-files-max': '3', 'body-bytes-max-files': '1 MB' })
  const input = block('start', 'api_trigger', { inputFormat: [{ name: 'docs', type: 'files' }] })
  const id = await world.deploy(document({ blocks: [input] }))
  await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', { path: 'quota' })] }))
  const stored = () => [...new Glob('files/**/*.txt').scanSync(world.folder)].length
  expect((await world.execute(id, { docs: [item, item] })).status).toBe(200)
  const refused = await world.execute(id, { docs: [item, item] })
  expect(refused).toMatchObject({ status: 413, json: { code: 'PAYLOAD_TOO_LARGE' } })
  expect(refused.json.error).toContain('MILLRACE_WORKSPACE_FILES_MAX')
  expect(stored()).toBe(2)
  expect((await world.execute(id, { docs: [item] })).status).toBe(200)
  const named = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="b.txt"' }
  const sent = await world.call('/api/webhooks/trigger/quota', { text: 'x', headers: named, key: null })
  expect(sent).toMatchObject({ status: 413, json: { code: 'PAYLOAD_TOO_LARGE' } })
  expect(stored()).toBe(3)
  expect((await world.execute(id, {})).status).toBe(200)
  await world.close()
})
