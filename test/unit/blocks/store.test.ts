import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { store } from '../../../src/blocks/store.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { ManualClock } from '../../support/clock.ts'
import { block, document } from '../../support/make.ts'
import { entriesInMemory, makeContext, runBlock } from './context.ts'

function shop() {
  const clock = new ManualClock(1_000)
  const context = makeContext({ clock, entries: entriesInMemory(() => clock.now()) })
  const call = (params: Record<string, unknown>) => runBlock(store, params, context)
  const outputs = async (params: Record<string, unknown>) => (await call(params)).outputs
  return { clock, context, call, outputs, [Symbol.dispose]: () => context[Symbol.dispose]() }
}

describe('the store block', () => {
  test('sets, reads and deletes a value of any shape', async () => {
    using here = shop()
    const value = { list: [1, null, 'ü'], deep: { er: true } }
    const set = await here.outputs({ operation: 'set', key: 'a', value })
    expect(set).toEqual({ value, found: false, changed: true, items: null, error: null })
    expect(await here.outputs({ key: 'a' })).toEqual({ value, found: true, changed: false, items: null, error: null })
    expect(await here.outputs({ operation: 'delete', key: 'a' })).toMatchObject({ value: null, changed: true })
    expect(await here.outputs({ key: 'a' })).toMatchObject({ value: null, found: false })
  })

  test('keeps entries of the workflow apart from those of the workspace', async () => {
    using here = shop()
    await here.outputs({ operation: 'set', key: 'a', value: 1 })
    expect(await here.outputs({ key: 'a', scope: 'workspace' })).toMatchObject({ found: false })
  })

  test('counts, in a window of time if it has one', async () => {
    using here = shop()
    const count = { operation: 'increment', key: 'n', by: 2, ttlMs: 500 }
    expect(await here.outputs(count)).toMatchObject({ value: 2, found: false })
    here.clock.advance(499)
    expect(await here.outputs(count)).toMatchObject({ value: 4, found: true })
    here.clock.advance(1)
    expect(await here.outputs(count)).toMatchObject({ value: 2, found: false })
    await here.outputs({ operation: 'set', key: 'n', value: 'text' })
    const failed = await here.call(count)
    expect(failed.error).toMatchObject({ code: 'NOT_A_NUMBER' })
    expect(failed.outputs).toMatchObject({ value: null, found: null, changed: null, items: null })
  })

  test('adds only what is new, and sets only what has the expected value', async () => {
    using here = shop()
    const add = { operation: 'add_if_absent', key: 'a', value: 1 }
    expect([(await here.outputs(add))['changed'], (await here.outputs(add))['changed']]).toEqual([true, false])
    const swap = { operation: 'compare_and_set', key: 'a' }
    expect(await here.outputs({ ...swap, expected: 2, value: 3 })).toMatchObject({ value: 1, changed: false })
    expect(await here.outputs({ ...swap, expected: 1, value: 3 })).toMatchObject({ value: 3, changed: true })
    expect(await here.outputs({ ...swap, value: 4 })).toMatchObject({ value: 3, changed: false })
  })

  test('lists keys with a prefix, in pages', async () => {
    using here = shop()
    for (const key of ['a/1', 'a/2', 'a/3', 'b']) await here.outputs({ operation: 'set', key, value: key, ttlMs: 9 })
    const first = await here.outputs({ operation: 'list', prefix: 'a/', limit: 2 })
    const times = { updatedAt: '1970-01-01T00:00:01.000Z', expiresAt: '1970-01-01T00:00:01.009Z' }
    expect(first).toMatchObject({ found: true, value: null, changed: false })
    expect(first['items']).toEqual([
      { key: 'a/1', value: 'a/1', ...times },
      { key: 'a/2', value: 'a/2', ...times },
    ])
    const rest = await here.outputs({ operation: 'list', prefix: 'a/', after: 'a/2' })
    expect(rest['items']).toMatchObject([{ key: 'a/3' }])
    expect(await here.outputs({ operation: 'list', prefix: 'z' })).toMatchObject({ found: false, items: [] })
  })

  test('refuses a list that is too large, and says how to read it', async () => {
    using here = shop()
    for (let at = 0; at < 6; at += 1) {
      await here.outputs({ operation: 'set', key: `k${at}`, value: 'x'.repeat(250_000) })
    }
    const { error } = await here.call({ operation: 'list' })
    expect(error).toMatchObject({ code: 'VALUE_TOO_LARGE', message: expect.stringContaining('limit to 4') })
    expect((await here.outputs({ operation: 'list', limit: 4 }))['items']).toHaveLength(4)
  })

  for (const [name, key, problem] of [
    ['an empty key', '', 'must not be empty'],
    ['a long key', 'k'.repeat(513), 'at most 512 characters'],
    ['a key with a control character', 'a\u0000b', 'control characters'],
    ['a key with half a character', 'a\ud800', 'halves of characters'],
    ['a key that is a path step', '..', 'must not be'],
  ] as const) {
    test(`refuses ${name}`, async () => {
      using here = shop()
      const { error } = await here.call({ operation: 'set', key, value: 1 })
      expect(error).toMatchObject({ code: 'INVALID_KEY', message: expect.stringContaining(problem) })
    })
  }

  test('refuses values that are too large, too deep or too many', async () => {
    using here = shop()
    const deep = Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1)
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const values = ['x'.repeat(262_144), 'ü'.repeat(140_000), deep, circular, Array.from({ length: 30_000 }, () => 1)]
    for (const value of values) {
      const { error } = await here.call({ operation: 'set', key: 'a', value })
      expect(error).toMatchObject({ code: 'VALUE_TOO_LARGE' })
      const compared = await here.call({ operation: 'compare_and_set', key: 'a', value: 1, expected: value })
      expect(compared.error).toMatchObject({ code: 'VALUE_TOO_LARGE' })
    }
    expect(await here.outputs({ operation: 'set', key: 'a', value: 'x'.repeat(262_142) })).toMatchObject({
      error: null,
    })
  })

  test('fails when the storage does, or does not answer in time', async () => {
    const clock = new ManualClock(0)
    const entries = entriesInMemory()
    entries.read = () => Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'The disk is full.'))
    entries.change = () => new Promise(() => undefined)
    using context = makeContext({ clock, entries })
    const { error } = await runBlock(store, { key: 'a' }, context)
    expect(error).toEqual({ code: 'STORAGE_UNAVAILABLE', message: 'The disk is full.' })
    const hanging = runBlock(store, { operation: 'delete', key: 'a', timeoutMs: 50 }, context)
    clock.advance(50)
    expect((await hanging).error).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('50 ms') })
  })

  test('needs a key, and a value to set', () => {
    const codes = (params: Record<string, unknown>) => {
      const draft = document({
        blocks: [block('start', 'api_trigger'), block('it', 'store', params)],
        edges: ['start > it'],
      })
      return compilePlan(draft, registry, defaultLimits).findings.map(({ code, path }) => `${code} ${path}`)
    }
    expect(codes({ operation: 'set' })).toEqual([
      expect.stringMatching(/^MISSING_PARAMETER .*key$/),
      expect.stringMatching(/^MISSING_PARAMETER .*value$/),
    ])
    expect(codes({ operation: 'list' })).toEqual([])
    expect(codes({ operation: 'set', key: '<start.input>', value: null })).toEqual([])
  })
})
