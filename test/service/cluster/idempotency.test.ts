import { expect, test } from 'bun:test'
import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

test('when two processes get the same Idempotency-Key at once, one runs, and both replay its response', async () => {
  using folder = temporaryFolder()
  await using cluster = await TestCluster.create(folder.path)
  const { apiKey, workspaceId } = cluster.installation
  const [one, two] = [await cluster.start(), await cluster.start()]
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': 'k' }
  const send = (url: string, path: string, body: unknown) =>
    fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const slow = document({
    blocks: [block('start', 'api_trigger', { inputFormat: [] }), block('w', 'wait', { ms: 1_000 })],
    edges: ['start > w'],
  })
  const { id } = (await (await send(one.url, '/api/workflows', slow)).json()) as { id: string }
  expect((await send(one.url, `/api/workflows/${id}/deploy`, {})).status).toBe(200)

  const execute = (url: string) => send(url, `/api/workflows/${id}/execute`, {})
  const all = await Promise.all([execute(one.url), execute(two.url)])
  expect(all.map(({ status }) => status).sort()).toEqual([200, 409])
  const body = await all.find(({ status }) => status === 200)?.text()
  for (const { url } of [one, two]) expect(await (await execute(url)).text()).toBe(body ?? '')
  const logs = await fetch(`${one.url}/api/v1/logs?workspaceId=${workspaceId}&workflowIds=${id}`, { headers })
  expect(((await logs.json()) as { data: unknown[] }).data).toHaveLength(1)
}, 60_000)
