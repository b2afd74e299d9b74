import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { S3Server } from '../../files/s3-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

let server: S3Server
let world: ExecutionWorld
let id: string

beforeAll(async () => {
  process.env['AWS_ACCESS_KEY_ID'] = process.env['AWS_SECRET_ACCESS_KEY'] = 'S3RVER'
  server = await S3Server.start()
  world = await ExecutionWorld.open({ 'body-bytes-max-files': '160 MB', ...server.flags })
  id = await world.deploy(
    document({
      name: 'Takes files',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'docs', type: 'files' }] }),
        block('end', 'response', { data: '<api.docs>' }),
      ],
      edges: ['start > end'],
    }),
  )
})
afterAll(async () => {
  await world.close()
  await server.stop()
})

const run = (docs: unknown) => world.call(`/api/workflows/${id}/execute`, { body: { docs } })
const dataUri = (bytes: Uint8Array) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`

test('files are stored in the bucket; while it is down, only requests with file items are refused', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(65_536))
  const large = Buffer.concat(Array.from({ length: 120 }, () => bytes))
  const { json } = await run([
    { type: 'file', name: 'small.png', data: dataUri(bytes) },
    { type: 'file', name: 'large.png', data: dataUri(large) },
  ])
  expect(json[0].url).toStartWith(server.url)
  for (const [index, content] of [bytes, large].entries()) {
    const response = await fetch(json[index].url)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(content))).toBe(true)
  }
  await server.stop()
  const before = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}`)
  const refused = await run([{ type: 'file', name: 'a.png', data: dataUri(bytes) }])
  expect([refused.status, refused.json.code]).toEqual([503, 'STORAGE_UNAVAILABLE'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const after = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}`)
  expect(after.json.data).toHaveLength(before.json.data.length)
  expect((await run([{ type: 'url', name: 'a', data: 'https://example.org/' }])).status).toBe(200)
  expect((await run(null)).status).toBe(200)
})
