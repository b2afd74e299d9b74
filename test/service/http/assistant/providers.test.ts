import { expect, test } from 'bun:test'
import { ModelServer } from '../../../support/models/model-server.ts'
import { HttpWorld } from '../world.ts'
import { callOf, done, empty } from './assistant-world.ts'

for (const provider of ['openai', 'anthropic', 'google', 'openai-compatible']) {
  test(`the assistant uses tools with a model of ${provider}`, async () => {
    await using models = await ModelServer.start([callOf('describe_block', { type: 'api' }), done])
    const flags = {
      'assistant-model': `${provider}/some-model`,
      'assistant-base-url': models.url,
      'assistant-api-key': 'key-of-the-operator',
    }
    const world = await HttpWorld.open({ flags })
    try {
      const id = await world.workflow(empty)
      const body = { messages: [{ role: 'user', content: 'Hello' }] }
      const { text } = await world.post(`/api/workflows/${id}/assistant`, body)
      expect(text).toContain('{"event":"tool","name":"describe_block","subject":"api","status":"succeeded"')
      expect(text).toContain('{"event":"text","text":"Done"}')
      // The price of this model is unknown.
      expect(text).toContain('"usd":null')
      expect(JSON.stringify(models.requests[0]?.headers)).toContain('key-of-the-operator')
    } finally {
      await world.close()
    }
  })
}
