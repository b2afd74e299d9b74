import { parseArgs } from 'node:util'
import { ModelServer, type ScriptedResponse, type SeenRequest } from '../test/support/models/model-server.ts'

/**
 * `bun scripts/model-stand-in.ts [--port 4010]`: a fake language model service, to try agents without a real one. It
 * repeats the prompt word by word.
 */
async function standIn(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4010' } } })
  const server = await ModelServer.start(sayBack, Number(values.port))
  console.log(`The fake language model listens on ${server.url}`)
}

function sayBack({ body }: SeenRequest): ScriptedResponse {
  const messages = (body['messages'] ?? []) as { content: unknown }[]
  const asked = messages.map(({ content }) => (typeof content === 'string' ? content : '')).findLast(Boolean) ?? ''
  const text = `You said: ${asked}`.split(/(?<= )/)
  const gate = () => new Promise<void>((resolve) => setTimeout(resolve, wordMs))
  return { text, usage: { prompt: asked.split(' ').length, completion: text.length }, gate }
}

/** The delay between two words. */
const wordMs = 50

await standIn()
