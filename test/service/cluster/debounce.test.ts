import { expect, test } from 'bun:test'
import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

test('debounced starts that reach several processes at the same time are one run', async () => {
  using folder = temporaryFolder()
  await using cluster = await TestCluster.create(folder.path)
  const { apiKey, workspaceId } = cluster.installation
  const processes = [await cluster.start(), await cluster.start()]
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const send = async (process: number, path: string, body: unknown) => {
    const url = `${processes[process % processes.length]?.url}${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as { id: string; executionId: string }
  }
  const draft = document({
    blocks: [block('start', 'api_trigger', { inputFormat: [{ name: 'customer', type: 'number' }] })],
    limits: { debounce: { quietMs: 1_500 }, key: '<api.customer>' },
  })
  const { id } = await send(0, '/api/workflows', draft)
  await send(0, `/api/workflows/${id}/deploy`, {})
  const execute = (process: number, customer: number) => send(process, `/api/workflows/${id}/execute`, { customer })
  // Both processes know the version.
  await Promise.all([execute(0, 0), execute(1, 0)])
  const customers = [1, 2, 3, 4, 5, 6, 7, 8]
  for (const customer of customers) {
    const started = await Promise.all(Array.from({ length: 8 }, (_, n) => execute(n, customer)))
    expect([customer, new Set(started.map(({ executionId }) => executionId)).size]).toEqual([customer, 1])
  }
  const runs = async () => {
    const logs = await fetch(`${processes[0]?.url}/api/v1/logs?workspaceId=${workspaceId}&workflowIds=${id}`, {
      headers,
    })
    return ((await logs.json()) as { data: unknown[] }).data.length
  }
  while ((await runs()) < customers.length + 1) await Bun.sleep(50)
  await Bun.sleep(500)
  expect(await runs()).toBe(customers.length + 1)
}, 60_000)
