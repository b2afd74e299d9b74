import { afterAll, describe, expect, test } from 'bun:test'
import { registry } from '../../src/blocks/registry.ts'
import { defaultLimits } from '../../src/domain/limits.ts'
import { compilePlan } from '../../src/engine/plan.ts'
import { checkOf } from '../../src/engine/registrations.ts'
import { block, document } from '../make.ts'
import { spansOf, World } from './world.ts'

const world = new World()
afterAll(() => world.stop())

const hook = (params: Record<string, unknown> = {}) => block('hook', 'webhook_trigger', params)
const checked = (params: Record<string, unknown>) =>
  checkOf(compilePlan(document({ blocks: [hook(params)] }), registry, defaultLimits))

describe('a workflow with several triggers', () => {
  const code = 'return { hook: <webhook.body>, call: <api.n>, mine: <hook.method> }'
  const several = document({
    blocks: [
      block('call', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
      hook(),
      block('called', 'wait', { ms: 0 }),
      block('both', 'function', { code }),
    ],
    edges: ['call > called', 'called > both', 'hook > both'],
  })

  test('runs from the trigger that started it, and not what only follows another one', async () => {
    const fields = { body: { id: 7 }, headers: {}, query: {}, method: 'PUT' }
    const end = await world.run(several, {}, { trigger: 'webhook', input: { input: {}, fields } })
    expect(end.record.output).toEqual({ result: { hook: { id: 7 }, call: null, mine: 'PUT' }, stdout: '', error: null })
    const spans = spansOf(end.record.root)
    expect(spans.get('hook')).toMatchObject([{ status: 'success', output: fields }])
    expect(spans.get('call')).toMatchObject([{ status: 'skipped' }])
    expect(spans.get('called')).toMatchObject([{ status: 'skipped' }])
  })

  test('reads the others as null when called', async () => {
    const end = await world.run(several, { n: 3 })
    expect(end.record.output).toMatchObject({ result: { hook: null, call: 3, mine: null } })
  })
})

describe('a webhook trigger', () => {
  test('registers its path, unless it is disabled or cannot be deployed', () => {
    const address = { kind: 'webhook' as const, name: 'orders' }
    expect(checked({ path: 'orders' }).registrations.addresses).toEqual([address])
    const disabled = document({ blocks: [block('x', 'api_trigger'), { ...hook({ path: 'orders' }), enabled: false }] })
    expect(checkOf(compilePlan(disabled, registry, defaultLimits)).registrations.addresses).toEqual([])
    expect(checked({ path: 'or ders' }).registrations.addresses).toEqual([])
  })

  test.each([
    [{ path: 'a/b' }, 'path'],
    [{ path: '..' }, 'path'],
    [{ methods: [] }, 'methods'],
    [{ methods: ['TRACE'] }, 'methods'],
    [{ authentication: { type: 'basic' } }, 'authentication'],
    [{ authentication: { type: 'bearer' } }, 'authentication.token'],
    [{ authentication: { type: 'header', name: 'x-token' } }, 'authentication.value'],
    [{ authentication: { type: 'header', name: 'x token', value: 'v' } }, 'authentication.name'],
    [{ authentication: { type: 'signature', secret: 's' } }, 'authentication.scheme'],
    [{ authentication: { type: 'signature', scheme: 'github' } }, 'authentication.secret'],
    [{ respond: 'later' }, 'respond'],
    [{ idempotency: {} }, 'idempotency'],
    [{ idempotency: { header: 'a', field: 'b' } }, 'idempotency'],
    [{ idempotency: { header: 'a b' } }, 'idempotency.header'],
  ])('with %j is a finding at %s', (params, path) => {
    const errors = checked(params).findings.filter(({ level }) => level === 'error')
    expect(errors.map((finding) => finding.path)).toEqual([`blocks.hook.params.${path}`])
  })

  test('shows nobody who reads its span how senders prove who they are', async () => {
    const draft = document({ blocks: [hook({ authentication: { type: 'bearer', token: 'very-secret' } })] })
    const end = await world.run(draft, {}, { trigger: 'webhook' })
    expect(JSON.stringify(end.record.root)).not.toContain('very-secret')
  })
})
