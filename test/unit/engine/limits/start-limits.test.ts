import { describe, expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import type { WorkflowLimits } from '../../../../src/domain/workflow/workflow-limits.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { block, document } from '../../../support/make.ts'

const compile = (limits: WorkflowLimits) => {
  const blocks = [
    block('Entry', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
    block('hook', 'webhook_trigger', { path: 'hook', authentication: { type: 'none' } }),
  ]
  return compilePlan(document({ blocks, edges: [], limits }), registry, defaultLimits)
}
const keyOf = (key: string, input: Record<string, unknown>, fields = {}, trigger: 'api' | 'webhook' = 'api') =>
  compile({ concurrency: 1, key }).plan?.startLimits?.keyOf(trigger, { input, fields })

describe('the key of a start', () => {
  test('reads declared fields, other members and the whole input, by the name or the type of the trigger', () => {
    expect(keyOf('<entry.n>', { n: '5' }, { n: 5 })).toBe('5')
    expect(keyOf('c-<api.customer>', { customer: 'Ada' })).toBe('c-Ada')
    expect(keyOf('<api.input.a.b>', { a: { b: true } })).toBe('true')
    expect(keyOf('<webhook.body.id>', {}, { body: { id: 'x' } }, 'webhook')).toBe('x')
    expect(keyOf('all', { n: 5 })).toBe('all')
  })

  test('is empty for an absent value, an object, a list, and another trigger', () => {
    expect(keyOf('<api.customer>', {})).toBe('')
    expect(keyOf('<api.customer>', { customer: { id: 5 } })).toBe('')
    expect(keyOf('<api.customer>', { customer: [1] })).toBe('')
    expect(keyOf('<api.toString>', {})).toBe('')
    expect(keyOf('<webhook.body.id>', { body: { id: 'x' } })).toBe('')
  })

  test('is short for long values, and differs if they differ', () => {
    const [a, b] = ['a', 'b'].map((letter) => keyOf('<api.text>', { text: letter.repeat(100_000) }))
    expect(a?.length).toBe(64)
    expect(a).not.toBe(b)
  })
})

test('limits without effect are warnings, and most workflows have none', () => {
  const codes = (limits: WorkflowLimits) =>
    compile(limits).findings.flatMap(({ code, path }) => (path.startsWith('limits') ? `${code} ${path}` : []))
  expect(codes({ key: '<api.n>', beyond: 'skip', queueMax: 5 })).toEqual(
    ['key', 'beyond', 'queueMax'].map((name) => `LIMIT_WITHOUT_EFFECT limits.${name}`),
  )
  expect(codes({ rate: { count: 1, windowMs: 1 }, beyond: 'replace' })).toEqual(['LIMIT_WITHOUT_EFFECT limits.beyond'])
  expect(codes({ debounce: { quietMs: 5 }, key: '<api.n>' })).toEqual([])
  expect(codes({ concurrency: 1, key: '<api.n> <other.n> {{NAME}}' })).toEqual([
    'INVALID_LIMIT_KEY limits.key',
    'INVALID_LIMIT_KEY limits.key',
  ])
  expect(compile({ timeoutMs: 5, priority: 3 }).plan?.startLimits).toBeUndefined()
})
