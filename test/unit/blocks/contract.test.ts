import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import type { Span } from '../../../src/domain/run/log.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { outboundOf } from '../../support/outbound/peers.ts'
import { World } from '../engine/world.ts'

const modelServer = await ModelServer.start([{ text: ['{"route":"a","clarity":7}'] }])
const asked = { provider: 'openai', model: 'gpt-4o-mini', apiKey: '{{MODEL_KEY}}', baseUrl: modelServer.url }

/** Parameters with which each block can be deployed and run. A new block needs only a row here. */
const examples: Record<string, Record<string, unknown>> = {
  api_trigger: { inputFormat: [{ name: 'n', type: 'number' }] },
  manual_trigger: {},
  chat_trigger: { identifier: 'help', access: 'password', password: '{{PASSWORD}}', title: 'Help' },
  event_trigger: { events: ['run.failed'], quietMs: 0 },
  schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Lisbon' },
  poll_trigger: { request: { url: 'https://service.example/list' }, items: 'data', id: 'id' },
  rss_trigger: { url: 'https://service.example/feed' },
  email_trigger: { credential: 'inbox', subject: 'Order' },
  webhook_trigger: { path: 'orders', authentication: { type: 'bearer', token: '{{TOKEN}}' } },
  operation: { connector: 'shop', operation: 'list', onError: 'continue', retries: 0 },
  api: { url: 'https://service.example/', onError: 'continue', retries: 0 },
  data: { operation: 'hash', input: 'A text' },
  sql: { credential: 'db', query: 'SELECT $1', params: [1], onError: 'continue' },
  s3: { credential: 'aws', bucket: 'reports', key: 'a.csv', onError: 'continue' },
  redis: { credential: 'cache', command: 'GET', args: ['key'], onError: 'continue' },
  mcp: { server: 'https://mcp.example/', tool: 'search', onError: 'continue' },
  email: { credential: 'mail', from: 'a@example.com', to: 'b@example.com', subject: 'Hi', onError: 'continue' },
  agent: { ...asked, userPrompt: 'Which way?' },
  router: { ...asked, prompt: 'Which way?', routes: [{ id: 'a' }] },
  evaluator: { ...asked, content: 'A text', metrics: [{ name: 'clarity', range: { min: 0, max: 10 } }] },
  guardrails: { input: '{}', checks: ['json', 'pii'] },
  function: { code: 'return 1' },
  condition: { conditions: [{ id: 'a', expression: 'true' }] },
  loop: {},
  parallel: {},
  variables: { assign: [{ name: 'v', value: 1 }] },
  store: { operation: 'increment', key: 'runs' },
  wait: { ms: 1 },
  approval: { title: 'Pay?' },
  form_trigger: { path: 'order', title: 'Order', fields: [{ name: 'amount', type: 'number' }] },
  wait_for_call: {},
  workflow: { workflowId: 'called', input: {} },
  response: { data: { ok: true } },
}

const called = document({ name: 'Called', blocks: [block('in', 'api_trigger')] })
const outbound = outboundOf(['loopback'])
const world = new World({ deployed: { called }, environment: { MODEL_KEY: 'model key' }, open: outbound.open })
afterAll(async () => {
  await world.stop()
  outbound.stop()
  await modelServer[Symbol.asyncDispose]()
})

function around(type: string, params: Record<string, unknown>, error = false): WorkflowDocument {
  const isTrigger = registry.get(type)?.kind === 'trigger'
  const container = type === 'loop' || type === 'parallel'
  const handle = type === 'condition' || type === 'router' ? `${type}-a` : 'source'
  return document({
    variables: { v: {} },
    blocks: [
      isTrigger ? block('it', type, params) : block('start', 'api_trigger'),
      ...(isTrigger ? [] : [block('it', type, params)]),
      ...(container ? [block('inner', 'wait', { ms: 0 }, { parentId: 'it' })] : []),
      block('after', 'wait', { ms: 0 }),
    ],
    edges: [
      ...(isTrigger ? [] : ['start > it']),
      ...(container ? [`it:${type}-start-source > inner`] : []),
      error ? 'it:error > after' : `it:${handle} > after`,
    ],
    ...(type === 'loop' ? { loops: { it: { loopType: 'for', iterations: 1 } } } : {}),
    ...(type === 'parallel' ? { parallels: { it: { parallelType: 'count', count: 1 } } } : {}),
  })
}

/** It can be neither deployed nor run. `placeholder.test.ts` checks it. */
const undeployable = new Set(['placeholder'])
const deployable = [...registry].filter(([type]) => !undeployable.has(type))

test('every block type has an example here', () => {
  expect(Object.keys(examples).sort()).toEqual(deployable.map(([type]) => type).sort())
})

for (const [type, definition] of deployable) {
  describe(`the block type ${type}`, () => {
    const params = examples[type] ?? {}

    test('has a label and a description', () => {
      expect(definition.type).toBe(type)
      expect(definition.label.length).toBeGreaterThan(0)
      expect(definition.description).toMatch(/^[A-Z].*\.$/)
    })

    test('is defined in a file with its name', () => {
      const name = type.replaceAll('_', '-')
      expect(readFileSync(join(import.meta.dir, '../../../src/blocks', `${name}.ts`), 'utf8')).toContain(`'${type}'`)
    })

    test('has a label for every parameter in the form', () => {
      for (const [name, schema] of Object.entries(definition.parameters.properties)) {
        if (name !== 'onError') expect({ name, title: typeof schema.title }).toEqual({ name, title: 'string' })
      }
    })

    test('has defaults that fit its own schema', () => {
      for (const schema of Object.values(definition.parameters.properties)) {
        if (schema.default !== undefined) expect(TypeCompiler.Compile(schema).Check(schema.default)).toBe(true)
      }
    })

    test('deploys its example without findings', () => {
      expect(compilePlan(around(type, params), registry, defaultLimits).findings).toEqual([])
    })

    test('reports parameters of the wrong shape as findings and does not throw', () => {
      for (const name of Object.keys(definition.parameters.properties)) {
        for (const wrong of [{ deep: { wrong: true } }, [[[]]], 'x'.repeat(10_000), -1, true]) {
          const { findings } = compilePlan(around(type, { ...params, [name]: wrong }), registry, defaultLimits)
          for (const finding of findings)
            expect(finding).toMatchObject({ code: expect.any(String), message: expect.any(String) })
        }
      }
    })

    test('runs, sets its declared outputs, and writes its span', async () => {
      const trigger = definition.starts ?? 'api'
      const { plan } = compilePlan(around(type, params), registry, defaultLimits)
      if (!plan) throw new Error('no plan')
      // The outputs of a trigger come from the input of the run.
      const given = definition.starts ? Object.fromEntries(definition.outputs.map((name) => [name, 1])) : {}
      const run = { plan, workflowId: 'w', workspaceId: 'ws', version: 1, trigger, input: { input: {}, fields: given } }
      const { record } = await world.runner.execute(run)
      // Nobody can answer a pause here, as in a manual run.
      if (definition.ports?.ahead) expect(record.failure?.message).toContain('cannot wait for an answer')
      else expect(record.failure).toBeNull()
      const span = record.root.children.find(({ blockId }) => blockId === 'it') as Span
      expect(span).toMatchObject({ type, name: 'it' })
      expect(span.endTime).toBeGreaterThanOrEqual(span.startTime)
      expect(Object.keys(span.output as object)).toEqual(expect.arrayContaining([...definition.outputs]))
      expect(() => JSON.stringify([span.input, span.output])).not.toThrow()
    })

    test(`${definition.mayFail ? 'may' : 'may not'} have an error edge`, () => {
      const { findings } = compilePlan(around(type, params, true), registry, defaultLimits)
      expect(findings.filter(({ level }) => level === 'error').length).toBe(definition.mayFail ? 0 : 1)
    })
  })
}
