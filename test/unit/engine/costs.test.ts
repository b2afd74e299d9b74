import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Clock, systemClock } from '../../../src/domain/clock.ts'
import type { Price } from '../../../src/domain/run/cost.ts'
import type { Span } from '../../../src/domain/run/log.ts'
import type { Block, WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { StepHistory } from '../../../src/engine/run/step-history.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer, type ScriptedResponse, type SeenRequest } from '../../support/models/model-server.ts'
import { outboundOf } from '../../support/outbound/peers.ts'
import { World } from './world.ts'

/** Prices that binary fractions cannot represent exactly. */
const prices: Record<string, Price> = {
  small: { input: 0.075, output: 0.3, cachedInput: 0.019 },
  large: { input: 1.1, output: 4.4, cachedInput: 0.275 },
  odd: { input: 0.000001, output: 33.333333 },
}
const models = [...Object.keys(prices), 'free of price']

/** A part of a workflow: model calls, and the blocks that repeat or call them. */
type Part =
  | { kind: 'ask'; model: string; tool: boolean; retries: number }
  | { kind: 'loop'; times: number; parts: Part[] }
  | { kind: 'parallel'; times: number; parts: Part[] }
  | { kind: 'call'; parts: Part[] }

const { part } = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.record({
      kind: fc.constant('ask' as const),
      model: fc.constantFrom(...models),
      tool: fc.boolean(),
      retries: fc.nat(2),
    }),
    fc.record({
      kind: fc.constant('loop' as const),
      times: fc.nat(2),
      parts: fc.array(tie('part'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant('parallel' as const),
      times: fc.nat(2),
      parts: fc.array(tie('part'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({ kind: fc.constant('call' as const), parts: fc.array(tie('part'), { minLength: 1, maxLength: 2 }) }),
  ),
}))

/** Retries without delay. */
const hasty: Clock = {
  ...systemClock,
  setTimer: (delayMs, run) => systemClock.setTimer(delayMs < 40_000 ? 0 : delayMs, run),
}

let server: ModelServer
const deployed: Record<string, WorkflowDocument> = {}
const outbound = outboundOf(['loopback'])
const world = new World({ open: outbound.open, prices, deployed, clock: hasty })
let answer: (request: SeenRequest) => ScriptedResponse

beforeAll(async () => {
  server = await ModelServer.start((request) => answer(request))
})
afterAll(async () => {
  await world.stop()
  outbound.stop()
  await server[Symbol.asyncDispose]()
})

/** Converts parts to workflows, and deploys those that others call. */
class Builder {
  #ids = 0

  workflow(parts: readonly Part[]): WorkflowDocument {
    const draft = { blocks: [block('in', 'api_trigger')], edges: [] as string[], loops: {}, parallels: {} }
    this.#chain(parts, 'in', draft, undefined)
    return document(draft)
  }

  #chain(parts: readonly Part[], from: string, draft: Draft, parentId: string | undefined): void {
    let source = from
    for (const each of parts) {
      this.#ids += 1
      const id = `b${this.#ids}`
      const inside = parentId === undefined ? {} : { parentId }
      draft.edges.push(`${source} > ${id}`)
      draft.blocks.push(this.#block(id, each, inside))
      source = id
      if (each.kind !== 'loop' && each.kind !== 'parallel') continue
      const { kind, times } = each
      if (kind === 'loop') draft.loops[id] = { loopType: 'for', iterations: times }
      else draft.parallels[id] = { parallelType: 'count', count: times }
      this.#chain(each.parts, `${id}:${kind}-start-source`, draft, id)
      source = `${id}:${kind}-end-source`
    }
  }

  #block(id: string, each: Part, inside: object): Block {
    if (each.kind === 'loop' || each.kind === 'parallel') return block(id, each.kind, {}, inside)
    if (each.kind === 'call') {
      this.#ids += 1
      const workflowId = `called${this.#ids}`
      deployed[workflowId] = this.workflow(each.parts)
      return block(id, 'workflow', { workflowId }, inside)
    }
    const { model, retries, tool } = each
    const tools = tool ? [{ type: 'workflow', workflowId: 'helper', name: 'helper', description: 'Asks for you' }] : []
    const params = { provider: 'openai-compatible', baseUrl: server.url, userPrompt: 'Go', model, retries, tools }
    return block(id, 'agent', { ...params, onError: 'continue' }, inside)
  }
}

type Draft = {
  blocks: Block[]
  edges: string[]
  loops: Record<string, object>
  parallels: Record<string, object>
}

/** An independent count of the usage in all responses, in units of 1e-12 USD. */
class Recount {
  readonly #byModel = new Map<string, { input: bigint; output: bigint; prompt: number; completion: number }>()

  add(model: string, { prompt, cached = 0, completion }: { prompt: number; cached?: number; completion: number }) {
    const units = (price = 0) => BigInt(Math.round(price * 1e6))
    const price = prices[model]
    const sum = this.#byModel.get(model) ?? { input: 0n, output: 0n, prompt: 0, completion: 0 }
    sum.input +=
      BigInt(prompt - cached) * units(price?.input) + BigInt(cached) * units(price?.cachedInput ?? price?.input)
    sum.output += BigInt(completion) * units(price?.output)
    sum.prompt += prompt
    sum.completion += completion
    this.#byModel.set(model, sum)
  }

  get cost() {
    const usd = (units: bigint) => Number(units) / 1e12
    const all = [...this.#byModel.values()]
    const prompt = all.reduce((sum, each) => sum + each.prompt, 0)
    const completion = all.reduce((sum, each) => sum + each.completion, 0)
    const models = [...this.#byModel].map(([name, { input, output, prompt: p, completion: c }]) => {
      const tokens = { prompt: p, completion: c, total: p + c }
      return [name, { input: usd(input), output: usd(output), total: usd(input + output), tokens }] as const
    })
    const units = all.reduce((sum, { input, output }) => sum + input + output, 0n)
    return {
      total: usd(units),
      tokens: { prompt, completion, total: prompt + completion },
      models: Object.fromEntries(models),
    }
  }
}

/** Random responses from a seed: temporary failures, refusals, tool calls, usage of any size. */
function saying(seed: number, recount: Recount) {
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return ({ body }: SeenRequest): ScriptedResponse => {
    const outcome = random(10)
    if (outcome === 0) return { status: 503 }
    if (outcome === 1) return { status: 400 }
    const prompt = random(100_000) + 1
    const usage = { prompt, cached: random(prompt), completion: random(5_000) + 1 }
    recount.add(String(body['model']), usage)
    const messages = body['messages'] as { role: string }[]
    const mayCall = Array.isArray(body['tools']) && messages.at(-1)?.role !== 'tool'
    if (mayCall) return { toolCalls: [{ id: 'c', name: 'helper', arguments: '{}' }], usage }
    return outcome === 2 ? { refusal: 'No.', usage } : { text: ['ok'], usage }
  }
}

function usageOf(span: Span): { tokens: number; usd: number } {
  const below = span.children.map(usageOf)
  return {
    tokens: below.reduce((sum, { tokens }) => sum + tokens, span.usage?.tokens.total ?? 0),
    usd: below.reduce((sum, { usd }) => sum + usd, span.usage?.cost.total ?? 0),
  }
}

test('costs and tokens equal an independent recount over random trees of workflows', async () => {
  const builder = new Builder()
  deployed['helper'] = builder.workflow([{ kind: 'ask', model: 'small', tool: false, retries: 1 }])
  const property = fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), fc.nat(), async (parts, seed) => {
    const recount = new Recount()
    answer = saying(seed, recount)
    const { record } = await world.run(builder.workflow(parts))
    expect(record.cost).toEqual(recount.cost)
    const spans = usageOf(record.root)
    expect(spans.tokens).toBe(recount.cost.tokens.total)
    expect(spans.usd).toBeCloseTo(recount.cost.total, 9)
  })
  await fc.assert(property, { numRuns: Number(process.env['COST_TREES'] ?? 100) })
}, 120_000)

test('a run resumed after crashes includes the cost from before them, also of blocks that run again', async () => {
  const recount = new Recount()
  answer = ({ body }) => {
    const usage = { prompt: 7, completion: 3 }
    recount.add(String(body['model']), usage)
    return { text: ['ok'], usage }
  }
  const ask = (id: string) =>
    block(id, 'agent', { provider: 'openai-compatible', baseUrl: server.url, userPrompt: 'Go', model: 'large' })
  const three = document({
    blocks: [block('in', 'api_trigger'), ask('a'), ask('b'), ask('c')],
    edges: ['in > a', 'a > b', 'b > c'],
  })
  const steps: string[] = []
  for (let most = 1; ; most += 1) {
    let written = 0
    const history = new StepHistory(steps, async (_, text) => {
      written += 1
      if (written > most) throw new Error('The process is gone')
      steps.push(text)
    })
    const end = await world.run(three, {}, { history, executionId: 'e1' })
    if (end.suspension) continue
    expect(end.record.cost.tokens.total % 10).toBe(0)
    // A crash loses at most one response: the one that was not on disk yet.
    const crashes = most - 1
    expect(end.record.cost.tokens.total).toBeGreaterThanOrEqual(recount.cost.tokens.total - 10 * crashes)
    expect(end.record.cost.tokens.total).toBeGreaterThan(30)
    return
  }
})

test('a failed run includes its cost', async () => {
  const answers: ScriptedResponse[] = [{ text: ['ok'], usage: { prompt: 10, completion: 10 } }, { status: 400 }]
  answer = () => answers.shift() ?? {}
  const ask = (id: string) =>
    block(id, 'agent', { provider: 'openai-compatible', baseUrl: server.url, userPrompt: 'Go', model: 'large' })
  const { record } = await world.run(
    document({ blocks: [block('in', 'api_trigger'), ask('a'), ask('b')], edges: ['in > a', 'a > b'] }),
  )
  expect(record.failure).toMatchObject({ blockName: 'b' })
  expect(record.cost).toMatchObject({ total: 0.000055, tokens: { total: 20 } })
})
