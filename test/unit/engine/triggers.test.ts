import { afterAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { checkOf } from '../../../src/engine/compile/registrations.ts'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from './world.ts'

const world = new World()
afterAll(() => world.stop())

const hook = (params: Record<string, unknown> = {}) => block('hook', 'webhook_trigger', params)
const checked = (params: Record<string, unknown>) =>
  checkOf(compilePlan(document({ blocks: [hook(params)] }), registry, defaultLimits), 0, new Set())

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

  test('runs only the blocks after the trigger that started the run', async () => {
    const fields = { body: { id: 7 }, headers: {}, query: {}, method: 'PUT' }
    const end = await world.run(several, {}, { trigger: 'webhook', input: { input: {}, fields } })
    expect(end.record.output).toEqual({ result: { hook: { id: 7 }, call: null, mine: 'PUT' }, stdout: '', error: null })
    const spans = spansOf(end.record.root)
    expect(spans.get('hook')).toMatchObject([{ status: 'success', output: fields }])
    expect(spans.get('call')).toMatchObject([{ status: 'skipped' }])
    expect(spans.get('called')).toMatchObject([{ status: 'skipped' }])
  })

  test('reads the outputs of its other triggers as null', async () => {
    const end = await world.run(several, { n: 3 })
    expect(end.record.output).toMatchObject({ result: { hook: null, call: 3, mine: null } })
  })
})

describe('a schedule', () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{}, 'cron'],
    [{ cron: '* * * * *', intervalMs: 5_000 }, 'cron'],
    [{ cron: 'every day' }, 'cron'],
    [{ cron: '0 0 30 2 *' }, 'cron'],
    [{ intervalMs: 10 }, 'intervalMs'],
    [{ cron: '* * * * *', timezone: 'Mars/Olympus' }, 'timezone'],
    [{ cron: '* * * * *', startAt: 'tomorrow' }, 'startAt'],
    [{ cron: '* * * * *', startAt: '2025-01-02', endAt: '2025-01-01' }, 'endAt'],
    [{ cron: '* * * * *', overlap: 'maybe' }, 'overlap'],
    [{ cron: '* * * * *', missedMax: 0 }, 'missedMax'],
    [{ cron: '* * * * *', jitterMs: -1 }, 'jitterMs'],
  ]
  test.each(wrong)('with %j is a finding at %s', (params, path) => {
    const draft = document({ blocks: [block('it', 'schedule', params)] })
    const { findings } = compilePlan(draft, registry, defaultLimits)
    expect(findings.map((finding) => finding.path)).toEqual([`blocks.it.params.${path}`])
  })

  test('is registered with its defaults and its next due time', () => {
    const draft = document({
      blocks: [block('it', 'schedule', { intervalMs: '60000', endAt: '1970-01-01T00:03:00Z' })],
    })
    const { registrations, nextTimes } = checkOf(compilePlan(draft, registry, defaultLimits), 5, new Set())
    const rule = {
      ...{ cron: null, intervalMs: 60_000, timezone: 'UTC', startAt: null, endAt: 180_000 },
      ...{ overlap: 'skip', missed: 'once', missedMax: 10, jitterMs: 0 },
    }
    expect(registrations).toEqual({ addresses: [], schedule: { rule, dueAt: 60_000 } } as typeof registrations)
    expect(nextTimes).toEqual([60_000, 120_000, 180_000])
  })

  test('passes the due time and the start time to its run', async () => {
    const draft = document({
      blocks: [block('it', 'schedule', { cron: '* * * * *' }), block('f', 'function', { code })],
      edges: ['it > f'],
    })
    const fields = { dueAt: '2025-01-01T00:00:00.000Z', firedAt: '2025-01-01T00:00:00.004Z' }
    const { record } = await world.run(draft, {}, { trigger: 'schedule', input: { input: {}, fields } })
    expect(record.output).toMatchObject({ result: fields })
  })
  const code = 'return { dueAt: <schedule.dueAt>, firedAt: <it.firedAt> }'
})

describe('a webhook trigger', () => {
  test('registers its path, unless it is disabled or wrong itself', () => {
    const address = { kind: 'webhook' as const, name: 'orders' }
    expect(checked({ path: 'orders' }).registrations.addresses).toEqual([address])
    const disabled = document({ blocks: [block('x', 'api_trigger'), { ...hook({ path: 'orders' }), enabled: false }] })
    expect(checkOf(compilePlan(disabled, registry, defaultLimits), 0, new Set()).registrations.addresses).toEqual([])
    expect(checked({ path: 'or ders' }).registrations.addresses).toEqual([])
    // Errors in other blocks do not affect the address: authors can set up senders while they finish the workflow.
    const unfinished = document({
      blocks: [hook({ path: 'orders' }), block('x', 'api', { url: '' })],
      edges: ['hook > x'],
    })
    const { findings, registrations } = checkOf(compilePlan(unfinished, registry, defaultLimits), 0, new Set())
    expect(findings.filter(({ level }) => level === 'error').length).toBe(1)
    expect(registrations.addresses).toEqual([address])
  })

  test.each([
    [{ path: 'a/b' }, 'path'],
    [{ path: '..' }, 'path'],
    [{ methods: [] }, 'methods'],
    [{ methods: ['TRACE'] }, 'methods.0'],
    [{ authentication: { type: 'basic' } }, 'authentication.type'],
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

  test("does not show the senders' secrets in its span", async () => {
    const draft = document({ blocks: [hook({ authentication: { type: 'bearer', token: 'very-secret' } })] })
    const end = await world.run(draft, {}, { trigger: 'webhook' })
    expect(JSON.stringify(end.record.root)).not.toContain('very-secret')
  })
})
