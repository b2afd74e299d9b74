import { expect } from 'bun:test'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import type { AssistantEvent } from '../../../../src/http/openapi/assistant-operation.ts'
import { ModelServer, type ScriptedResponse, type SeenRequest } from '../../../support/models/model-server.ts'
import { HttpWorld } from '../world.ts'

export const done: ScriptedResponse = { text: ['Done', '.'], usage: { prompt: 2000, completion: 50 } }
export const empty = { name: 'Greeting', blocks: {}, edges: [] } satisfies WorkflowDocument

/** The HTTP interface with an assistant, and a stand-in for the operator's language model. */
export class AssistantWorld {
  readonly http: HttpWorld
  readonly #models: ModelServer
  readonly #script: Script

  static async open(more: Record<string, string> = {}): Promise<AssistantWorld> {
    const script: Script = { responses: [], first: 0 }
    const models = await ModelServer.start((_, at) => {
      const { responses, first } = script
      return responses[Math.min(at - first, responses.length - 1)] ?? {}
    })
    const flags = {
      'assistant-model': 'openai-compatible/gpt-5-mini',
      'assistant-base-url': models.url,
      'assistant-api-key': 'key-of-the-operator',
      'assistant-tokens-per-day': '5000000',
      ...more,
    }
    return new AssistantWorld(await HttpWorld.open({ bodyBytesMax: 500_000, flags }), models, script)
  }

  private constructor(http: HttpWorld, models: ModelServer, script: Script) {
    this.http = http
    this.#models = models
    this.#script = script
  }

  /** The responses of the model from now on. The last one is repeated. */
  say(...responses: readonly ScriptedResponse[]): void {
    this.#script.first = this.#models.requests.length
    this.#script.responses = responses
  }

  /** The requests to the model since the last `say`. */
  get seen(): readonly SeenRequest[] {
    return this.#models.requests.slice(this.#script.first)
  }

  async ask(id: string, content: string, more: { document?: object; key?: string } = {}) {
    const { key, ...body } = more
    const messages = [{ role: 'user', content }]
    const options = key === undefined ? {} : { key }
    const { status, text } = await this.http.post(`/api/workflows/${id}/assistant`, { messages, ...body }, options)
    return { status, text, events: status === 200 ? eventsIn(text) : [] }
  }

  async close(): Promise<void> {
    await this.http.close()
    await this.#models[Symbol.asyncDispose]()
  }
}

type Script = { responses: readonly ScriptedResponse[]; first: number }

export function callOf(name: string, given: object): ScriptedResponse {
  return {
    toolCalls: [{ id: 'c1', name, arguments: JSON.stringify(given) }],
    usage: { prompt: 1000, completion: 100 },
  }
}

export const start = { op: 'add_block', block: { id: 'start', type: 'api_trigger', name: 'Start' } }
export const end = { op: 'add_block', block: { id: 'end', type: 'response', name: 'End', params: {} }, after: 'start' }

function eventsIn(text: string): AssistantEvent[] {
  const lines = text.split('\n\n').flatMap((part) => (part.startsWith('data: ') ? [part.slice(6)] : []))
  expect(lines.at(-1)).toBe('[DONE]')
  return lines.slice(0, -1).map((line) => JSON.parse(line) as AssistantEvent)
}

export function eventsOf<Kind extends AssistantEvent['event']>(events: readonly AssistantEvent[], kind: Kind) {
  return events.filter((one): one is Extract<AssistantEvent, { event: Kind }> => one.event === kind)
}
