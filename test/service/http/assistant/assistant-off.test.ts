import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ModelServer } from '../../../support/models/model-server.ts'
import { HttpWorld } from '../world.ts'

let models: ModelServer
let world: HttpWorld
beforeAll(async () => {
  models = await ModelServer.start([{ text: ['Hello'] }])
  // An address alone turns nothing on.
  world = await HttpWorld.open({ flags: { 'assistant-base-url': models.url, 'assistant-api-key': 'key' } })
})
afterAll(async () => {
  await world?.close()
  await models?.[Symbol.asyncDispose]()
})

test('the assistant is off until the operator chooses a model', async () => {
  const id = await world.workflow()
  const body = { messages: [{ role: 'user', content: 'Hello' }] }
  const { status, json } = await world.post(`/api/workflows/${id}/assistant`, body)
  expect([status, json.code]).toEqual([409, 'CONFLICT'])
  expect(json.error).toContain('MILLRACE_ASSISTANT_MODEL')
  expect(models.requests).toEqual([])
})
