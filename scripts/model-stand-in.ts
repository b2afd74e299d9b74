import { parseArgs } from 'node:util'
import { ModelServer, type ScriptedAnswer, type SeenRequest } from '../test/models/model-server.ts'

/**
 * `bun scripts/model-stand-in.ts [--port 4010]`: a stand-in for a language model service, to try agents without one.
 * It says back what it was asked, word by word.
 */
async function standIn(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4010' } } })
  const server = await ModelServer.start(sayBack, Number(values.port))
  console.log(`A stand-in for a language model speaks at ${server.url}`)
}

function sayBack({ body }: SeenRequest): ScriptedAnswer {
  const messages = (body['messages'] ?? []) as { content: unknown }[]
  const asked = messages.map(({ content }) => (typeof content === 'string' ? content : '')).findLast(Boolean) ?? ''
  const text = `You said: ${asked}`.split(/(?<= )/)
  const gate = () => new Promise<void>((resolve) => setTimeout(resolve, wordMs))
  return { text, usage: { prompt: asked.split(' ').length, completion: text.length }, gate }
}

/** Time between two words. */
const wordMs = 50

await standIn()
