// Long because it is one contract: the entries of workflows and workspaces.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type EntryChange, type EntryQuery, entryBytes } from '../../../../../src/domain/entry/entry.ts'
import type { Store } from '../../../../../src/store/store.ts'
import type { Installed } from '../../installed.ts'
import { EntryModel } from './entry-model.ts'

const roomy = 1_000_000

/** The contract of every store for the entries that workflows keep between their runs. */
export function entryContract(world: () => { store: Store; home: Installed }): void {
  const scope = (own = false) => {
    const { workspaceId, workflowId } = world().home
    return { workspaceId, workflowId: own ? workflowId : null }
  }
  const change = async (key: string, made: EntryChange, { now = 10, max = roomy, own = false, once = '' } = {}) => {
    const request = { ...scope(own), key, change: made, now }
    const asked = once === '' ? request : { ...request, once: { executionId: 'run', operation: once } }
    return (await world().store.changeEntries([asked], max))[0]!
  }
  const set = (key: string, value: unknown, expiresAt: number | null = null, options = {}) =>
    change(key, { type: 'set', value: JSON.stringify(value), expiresAt }, options)
  const read = async (key: string, now = 10, own = false) => {
    const [row] = await world().store.readEntries([{ ...scope(own), key, now }])
    return row && (JSON.parse(row.value) as unknown)
  }
  const list = (query: Partial<EntryQuery> = {}) =>
    world().store.listEntries({ ...scope(), prefix: '', after: null, limit: 100, bytesMax: roomy, now: 10, ...query })
  const keys = async (query: Partial<EntryQuery> = {}) => (await list(query)).entries.map(({ key }) => key)
  const bytes = () => world().store.getEntryBytes(world().home.workspaceId)

  describe('an entry', () => {
    test('is set, read and deleted', async () => {
      expect(await set('a', { text: 'Grüße \u{1f600} \0' })).toMatchObject({ ok: true, found: false, changed: true })
      expect(await read('a')).toEqual({ text: 'Grüße \u{1f600} \0' })
      expect(await set('a', 2, null, { now: 20 })).toMatchObject({ found: true, value: '2' })
      expect((await list()).entries).toEqual([{ key: 'a', value: '2', updatedAt: 20, expiresAt: null }])
      expect(await change('a', { type: 'delete' })).toEqual({ ok: true, found: true, changed: true, value: null })
      expect(await change('a', { type: 'delete' })).toMatchObject({ found: false, changed: false })
      expect(await read('a')).toBeNull()
      expect(await bytes()).toBe(0)
    })

    test('of a workflow is apart from one of its workspace, and from those of other workspaces', async () => {
      await set('a', 'shared')
      await set('a', 'own', null, { own: true })
      expect([await read('a'), await read('a', 10, true)]).toEqual(['shared', 'own'])
      const { store, home } = world()
      const elsewhere = { workspaceId: 'nowhere', workflowId: null, key: 'a', now: 10 }
      const strange = { ...elsewhere, workspaceId: home.workspaceId, workflowId: 'nowhere' }
      expect(await store.readEntries([elsewhere, strange])).toEqual([null, null])
      const increment: EntryChange = { type: 'increment', by: 1, expiresAt: null }
      const requests = [elsewhere, strange, { ...scope(), key: 'n', now: 10 }].map((each) => {
        return { ...each, change: increment }
      })
      const [first, second, third] = await store.changeEntries(requests, roomy)
      expect([first, second]).toMatchObject([{ code: 'NOT_FOUND' }, { code: 'NOT_FOUND' }])
      expect(third).toMatchObject({ ok: true, value: '1' })
      expect(await store.listEntries({ ...elsewhere, prefix: '', after: null, limit: 1, bytesMax: 1 })).toEqual({
        entries: [],
        isComplete: true,
      })
    })

    test('that is a number can be incremented, and keeps the end of its time', async () => {
      const by = (number: number, expiresAt: number | null, now = 10) =>
        change('n', { type: 'increment', by: number, expiresAt }, { now })
      expect(await by(2, 100)).toMatchObject({ found: false, value: '2' })
      expect(await by(-0.5, 500)).toMatchObject({ found: true, value: '1.5' })
      expect((await list()).entries).toMatchObject([{ value: '1.5', expiresAt: 100 }])
      expect(await by(1, 900, 100)).toMatchObject({ found: false, value: '1' })
      expect(await by(Number.MAX_SAFE_INTEGER, null, 100)).toMatchObject({ code: 'NOT_A_NUMBER' })
      await set('n', '1', null, { now: 100 })
      expect(await by(1, null, 100)).toMatchObject({ ok: false, code: 'NOT_A_NUMBER' })
      expect(await read('n', 100)).toBe('1')
    })

    test('is set only with the expected value, in any order of members', async () => {
      const expecting = (expected: unknown, value: unknown) =>
        change('a', {
          ...{ type: 'compare_and_set', value: JSON.stringify(value), expiresAt: null },
          expected: expected === undefined ? null : JSON.stringify(expected),
        })
      expect(await expecting(1, 'no')).toEqual({ ok: true, found: false, changed: false, value: null })
      expect(await expecting(undefined, { x: 1, y: [2] })).toMatchObject({ found: false, changed: true })
      expect(await expecting(null, 'no')).toMatchObject({ found: true, changed: false, value: '{"x":1,"y":[2]}' })
      expect(await expecting({ y: [2], x: 1 }, null)).toMatchObject({ changed: true, value: 'null' })
      expect(await expecting(undefined, 'yes')).toMatchObject({ found: true, changed: true })
      expect(await read('a')).toBe('yes')
    })

    test('is added only if there is none', async () => {
      const add = (value: string, now = 10) => change('a', { type: 'add_if_absent', value, expiresAt: 50 }, { now })
      expect(await add('1')).toEqual({ ok: true, found: false, changed: true, value: '1' })
      expect(await add('2')).toEqual({ ok: true, found: true, changed: false, value: '1' })
      expect(await add('3', 50)).toMatchObject({ found: false, changed: true, value: '3' })
    })

    test('does not exist from its end on, and is deleted later', async () => {
      await set('a', 1, 20)
      await set('b', 2)
      expect([await read('a', 19), await read('a', 20)]).toEqual([1, null])
      expect(await keys({ now: 20 })).toEqual(['b'])
      expect(await change('a', { type: 'delete' }, { now: 20 })).toMatchObject({ found: false })
      expect(await bytes()).toBe(entryBytes('a', '1') + entryBytes('b', '2'))
      expect(await world().store.cleanEntries({ now: 20, changesBefore: 0 })).toBe(true)
      expect(await bytes()).toBe(entryBytes('b', '2'))
    })
  })

  describe('a change of an entry', () => {
    test('that a run asks for again is made once', async () => {
      const made: EntryChange = { type: 'increment', by: 1, expiresAt: null }
      const first = await change('n', made, { once: 'one' })
      expect(await change('n', made)).toMatchObject({ value: '2' })
      expect(await change('n', made, { once: 'one' })).toEqual(first)
      expect(await change('n', made, { once: 'two' })).toMatchObject({ value: '3' })
      const value = JSON.stringify('x')
      const added = await change('new', { type: 'add_if_absent', value, expiresAt: null }, { once: 'three' })
      await change('new', { type: 'delete' })
      expect(await change('new', { type: 'add_if_absent', value, expiresAt: null }, { once: 'three' })).toEqual(added)
      expect(await read('new')).toBeNull()
    })

    test('that was not made may be made later', async () => {
      await set('a', 1)
      const add: EntryChange = { type: 'add_if_absent', value: '2', expiresAt: null }
      expect(await change('a', add, { once: 'one' })).toMatchObject({ changed: false })
      await change('a', { type: 'delete' })
      expect(await change('a', add, { once: 'one' })).toMatchObject({ changed: true })
    })

    test('is forgotten when its run has ended, not before', async () => {
      const { store, home } = world()
      const { workspaceId, workflowId } = home
      const job = { executionId: 'run', workflowId, workspaceId, version: 1, trigger: 'api' as const }
      const row = { ...job, createdAt: 1, startedAt: 1, input: new Uint8Array([1]) }
      await store.append([{ kind: 'job', row }])
      const made: EntryChange = { type: 'increment', by: 1, expiresAt: null }
      await change('n', made, { once: 'one' })
      await world().store.cleanEntries({ now: 1_000, changesBefore: 900 })
      expect(await change('n', made, { once: 'one' })).toMatchObject({ value: '1' })
      await store.changeEntries(
        [{ ...scope(), key: 'n', change: made, now: 10, once: { executionId: 'other', operation: 'one' } }],
        roomy,
      )
      expect(await read('n')).toBe(2)
      await store.cleanEntries({ now: 1_000, changesBefore: 900 })
      await store.changeEntries(
        [{ ...scope(), key: 'n', change: made, now: 10, once: { executionId: 'other', operation: 'one' } }],
        roomy,
      )
      expect(await read('n')).toBe(3)
    })
  })

  describe('the bytes of a workspace', () => {
    test('are exact, and no change makes them more than allowed', async () => {
      const max = entryBytes('a', '"xxxx"') + entryBytes('b', '1')
      expect(await set('a', 'xxxx', null, { max })).toMatchObject({ ok: true })
      expect(await set('b', 1, null, { max })).toMatchObject({ ok: true })
      expect(await bytes()).toBe(max)
      const refused = await set('b', 10, null, { max })
      expect(refused).toMatchObject({ ok: false, code: 'STORE_FULL' })
      expect(JSON.stringify(refused)).toContain(`${max} bytes`)
      expect(await set('a', 'xxx', null, { max })).toMatchObject({ ok: true })
      expect(await set('b', 10, null, { max })).toMatchObject({ ok: true })
      expect(await bytes()).toBe(max)
      expect(await change('a', { type: 'delete' }, { max: 1 })).toMatchObject({ changed: true })
      expect(await set('b', 1, null, { max: 1 })).toMatchObject({ ok: true })
      expect(await bytes()).toBe(entryBytes('b', '1'))
    })

    test('of expired entries are free at once', async () => {
      const max = 3 * entryBytes('a', '1')
      for (const key of ['a', 'b', 'c']) await set(key, 1, 20, { max })
      expect(await set('d', 1, null, { max })).toMatchObject({ code: 'STORE_FULL' })
      expect(await set('d', 1, null, { max, now: 20 })).toMatchObject({ ok: true })
      expect(await bytes()).toBe(entryBytes('d', '1'))
    })

    test('are right when many callers change entries at the same time', async () => {
      const { store } = world()
      const changes = Array.from({ length: 60 }, (_, at): EntryChange => {
        return at % 3 === 2 ? { type: 'delete' } : { type: 'increment', by: 10 ** (at % 7), expiresAt: null }
      })
      await Promise.all(
        changes.map((each, at) =>
          store.changeEntries([{ ...scope(), key: `k${at % 5}`, change: each, now: 1 }], roomy),
        ),
      )
      const { entries } = await list()
      const sum = entries.reduce((total, { key, value }) => total + entryBytes(key, value), 0)
      expect(await bytes()).toBe(sum)
      const increments = Array.from({ length: 40 }, () => {
        return { ...scope(), key: 'hot', now: 1, change: { type: 'increment', by: 1, expiresAt: null } as const }
      })
      await Promise.all(increments.map((each) => store.changeEntries([each, each], roomy)))
      expect(await read('hot')).toBe(80)
    })
  })

  describe('a list of entries', () => {
    test('has the keys with a prefix, in the order of code points', async () => {
      const all = ['a', 'a/1', 'a/2', 'a/\u{ffff}', 'a/\u{1f600}', 'a/\u{10ffff}', 'a0', 'b', '\u{10ffff}', '%', '_']
      for (const key of all) await set(key, key)
      expect(await keys({ prefix: 'a/' })).toEqual(['a/1', 'a/2', 'a/\u{ffff}', 'a/\u{1f600}', 'a/\u{10ffff}'])
      expect(await keys({ prefix: 'a/\u{10ffff}' })).toEqual(['a/\u{10ffff}'])
      expect(await keys({ prefix: '\u{10ffff}' })).toEqual(['\u{10ffff}'])
      expect(await keys({ prefix: '_' })).toEqual(['_'])
      expect(await keys({ prefix: "a' OR 1=1 --" })).toEqual([])
      expect((await keys()).length).toBe(all.length)
    })

    test('is read in pages, which are limited by entries and bytes', async () => {
      for (const key of ['a', 'b', 'c', 'd']) await set(key, 'x'.repeat(1_000))
      expect(await list({ limit: 2 })).toMatchObject({ entries: [{ key: 'a' }, { key: 'b' }], isComplete: false })
      expect(await list({ limit: 2, after: 'b' })).toMatchObject({ entries: [{ key: 'c' }, {}], isComplete: true })
      expect(await keys({ bytesMax: 2_500 })).toEqual(['a', 'b'])
      expect(await list({ bytesMax: 1 })).toMatchObject({ entries: [{ key: 'a' }], isComplete: false })
      expect(await list({ after: 'd' })).toEqual({ entries: [], isComplete: true })
      expect(await keys({ prefix: 'b', after: 'a' })).toEqual(['b'])
    })
  })

  test('entries of a deleted workflow stay for a while, in case it is restored', async () => {
    const { store, home } = world()
    await set('a', 1, null, { own: true })
    await set('a', 2)
    await store.deleteWorkflow(home.workflowId, 100)
    await store.cleanEntries({ now: 200, changesBefore: 0 })
    await store.cleanEntries({ now: 200, changesBefore: 0, workflowsDeletedBefore: 100 })
    expect(await read('a', 200, true)).toBe(1)
    expect(await store.cleanEntries({ now: 200, changesBefore: 0, workflowsDeletedBefore: 101 })).toBe(true)
    expect([await read('a', 200, true), await read('a', 200)]).toEqual([null, 2])
    expect(await bytes()).toBe(entryBytes('a', '2'))
  })

  test('the upkeep deletes many expired entries in steps', async () => {
    const { store } = world()
    const requests = Array.from({ length: 2_500 }, (_, at) => {
      return { ...scope(), key: `k${at}`, now: 1, change: { type: 'set', value: '1', expiresAt: 5 } as const }
    })
    await store.changeEntries(requests, roomy)
    let steps = 1
    while (!(await store.cleanEntries({ now: 10, changesBefore: 0 }))) steps += 1
    expect(steps).toBe(3)
    expect(await bytes()).toBe(0)
  })

  test('entries behave like a simple model, whatever is asked in any groups', async () => {
    const key = fc.constantFrom('a', 'ab', 'b', 'ü')
    const value = fc.constantFrom('1', '"1"', 'null', '{"a":1}', '7.5')
    const expiresAt = fc.option(fc.integer({ min: 1, max: 30 }), { nil: null })
    const made: fc.Arbitrary<EntryChange> = fc.oneof(
      fc.record({ type: fc.constantFrom('set' as const, 'add_if_absent' as const), value, expiresAt }),
      fc.record({ type: fc.constant('compare_and_set' as const), expected: value, value, expiresAt }),
      fc.record({ type: fc.constant('increment' as const), by: fc.integer({ min: -3, max: 3 }), expiresAt }),
      fc.record({ type: fc.constant('delete' as const) }),
    )
    const request = fc.record({ key, change: made, passes: fc.integer({ min: 0, max: 5 }), own: fc.boolean() })
    const groups = fc.array(fc.array(request, { minLength: 1, maxLength: 4 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(groups, fc.integer({ min: 200, max: 700 }), async (all, max) => {
        const { store } = world()
        for (const own of [false, true]) {
          const { entries } = await list({ ...scope(own), now: 0 })
          for (const entry of entries) await change(entry.key, { type: 'delete' }, { own, now: 0 })
        }
        const model = new EntryModel(max)
        let now = 1
        for (const group of all) {
          now += group[0]!.passes
          await store.cleanEntries({ now, changesBefore: 0 })
          model.clean(now)
          const requests = group.map(({ own, passes: _, ...rest }) => ({ ...scope(own), ...rest, now }))
          expect(await store.changeEntries(requests, max)).toMatchObject(requests.map((each) => model.change(each)))
        }
        for (const own of [false, true]) {
          expect((await list({ ...scope(own), now })).entries).toMatchObject(model.list(scope(own).workflowId, now))
        }
        expect(await bytes()).toBe(model.bytes())
      }),
      { numRuns: 60 },
    )
  })
}
