import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Environments } from '../../../src/accounts/environment.ts'
import { openSecretBox, type SecretBox, sealHeadBytes } from '../../../src/accounts/secret-box.ts'
import { environmentBounds } from '../../../src/domain/account/environment.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { type Installed, install } from '../../support/store/installed.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

describe('the environment of a workspace', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let store: Store
  let home: Installed
  let box: SecretBox
  let clock: ManualClock
  let environments: Environments
  /** Belongs to another process on the same folder. */
  let elsewhere: Environments
  let reads: number
  /** Set to delay the store's responses. */
  let held: Promise<void> | undefined

  beforeEach(async () => {
    folder = temporaryFolder()
    store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
    home = await install(store)
    box = await openSecretBox({
      directory: folder.path,
      secretKey: undefined,
      sealHeads: () => store.sealHeads(sealHeadBytes),
    })
    clock = new ManualClock()
    reads = 0
    held = undefined
    const counting: Store = {
      ...store,
      async listEnvironment(workspaceId) {
        reads += 1
        const rows = await store.listEnvironment(workspaceId)
        await held
        return rows
      },
    }
    environments = new Environments({ store: counting, box, clock })
    elsewhere = new Environments({ store, box, clock: new ManualClock() })
  })
  afterEach(async () => {
    await store.close()
    folder[Symbol.dispose]()
  })

  const set = (where: Environments, name: string, value: string, plain = false) =>
    where.set({ workspaceId: home.workspaceId, name, value, plain })
  const valuesOf = async () => Object.fromEntries((await environments.of(home.workspaceId)).values)

  test('also hides secrets in documents, in environments that are in use already', async () => {
    await environments.set({ workspaceId: home.workspaceId, name: 'TOKEN', value: 'token value', plain: false })
    const used = await environments.of(home.workspaceId)
    expect(used.redactor?.redact('"token value, written value"')).toBe('"{{TOKEN}}, written value"')
    environments.hide(home.workspaceId, [{ name: 'Chat: password', value: 'written value' }])
    expect(used.redactor?.redact('"token value, written value"')).toBe('"{{TOKEN}}, {{Chat: password}}"')
    const { redactor } = used
    environments.hide(home.workspaceId, [{ name: 'Chat: password', value: 'written value' }])
    expect(used.redactor).toBe(redactor)
    await environments.unset(home.workspaceId, 'TOKEN')
    const later = await environments.of(home.workspaceId)
    expect(later.redactor?.redact('"token value, written value"')).toBe('"token value, {{Chat: password}}"')
    for (let at = 0; at < 1_500; at += 1) environments.hide(home.workspaceId, [{ name: 'x', value: `value ${at}` }])
    expect(later.redactor?.secrets).toHaveLength(1_000)
    expect((await environments.of('another workspace')).redactor).toBeUndefined()
  })

  test('returns every value as it was set', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const value = text.toWellFormed()
        await set(environments, 'ANY', value)
        expect(await valuesOf()).toEqual({ ANY: value })
      }),
      { numRuns: 200, examples: [['\u{feff}starts with a byte order mark'], ['']] },
    )
  })

  test('is available immediately once known, and concurrent look-ups share one read', async () => {
    await set(environments, 'A', 'one')
    const [first, second] = await Promise.all([environments.of(home.workspaceId), environments.of(home.workspaceId)])
    expect(first).toBe(second)
    expect(environments.of(home.workspaceId)).toBe(first)
    expect(reads).toBe(1)
  })

  test('is cached even when empty', async () => {
    await environments.of(home.workspaceId)
    const environment = environments.of(home.workspaceId)
    expect(environment).not.toBeInstanceOf(Promise)
    expect((await environment).redactor).toBeUndefined()
    expect(reads).toBe(1)
  })

  test('reflects a local change immediately, even during a read', async () => {
    await set(environments, 'A', 'one')
    expect(await valuesOf()).toEqual({ A: 'one' })
    await set(environments, 'A', 'two')
    expect(await valuesOf()).toEqual({ A: 'two' })

    await environments.unset(home.workspaceId, 'NONE')
    const gate = Promise.withResolvers<void>()
    held = gate.promise
    const old = environments.of(home.workspaceId)
    held = undefined
    await set(environments, 'A', 'three')
    expect(await valuesOf()).toEqual({ A: 'three' })
    gate.resolve()
    expect((await old).values.get('A')).toBe('two')
    expect(await valuesOf()).toEqual({ A: 'three' })

    expect(await environments.unset(home.workspaceId, 'A')).toBe(true)
    expect(await environments.unset(home.workspaceId, 'A')).toBe(false)
    expect(await valuesOf()).toEqual({})
  })

  test('reflects a change by another process within 5 s, without delaying runs while in use', async () => {
    await set(environments, 'A', 'one')
    expect(await valuesOf()).toEqual({ A: 'one' })
    await set(elsewhere, 'A', 'two')
    clock.advance(2_999)
    expect(await valuesOf()).toEqual({ A: 'one' })
    clock.advance(1)
    expect(environments.of(home.workspaceId)).not.toBeInstanceOf(Promise)
    // The second caller shares the query of the first and waits for it.
    clock.advance(1_500)
    const waited = environments.of(home.workspaceId)
    expect(waited).toBeInstanceOf(Promise)
    expect((await waited).values.get('A')).toBe('two')
    expect(reads).toBe(2)
  })

  test('is read again after 4.5 s without use', async () => {
    await set(environments, 'A', 'one')
    await valuesOf()
    await set(elsewhere, 'A', 'two')
    clock.advance(4_500)
    expect(await valuesOf()).toEqual({ A: 'two' })
  })

  test('stays the same object while nothing changes', async () => {
    await set(environments, 'A', 'one')
    const before = await environments.of(home.workspaceId)
    clock.advance(10_000)
    expect(await environments.of(home.workspaceId)).toBe(before)
    await set(elsewhere, 'A', 'one')
    clock.advance(10_000)
    expect(await environments.of(home.workspaceId)).not.toBe(before)
  })

  test('is evicted when the cache is full', async () => {
    const few = new Environments({ store, box, clock, workspacesMax: 2 })
    for (const id of ['a', 'b', 'c']) await few.of(id)
    expect(few.of('a')).toBeInstanceOf(Promise)
    expect(few.of('c')).not.toBeInstanceOf(Promise)
  })

  test('rejects invalid names and values without repeating the value', async () => {
    const bad = ['', '1A', 'A-B', 'A B', 'Ä', 'A'.repeat(environmentBounds.nameCharsMax + 1), '{{A}}', 'a\n']
    for (const name of bad) {
      expect(await rejectionOf(set(environments, name, 'x'))).toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'name' }],
      })
    }
    const values = ['é'.repeat(environmentBounds.valueBytesMax / 2 + 1), 'half \ud800 a character']
    for (const value of values) {
      const refusal = await rejectionOf(set(environments, 'A', value))
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', details: [{ path: 'value' }] })
      expect(JSON.stringify(refusal)).not.toContain(value.slice(0, 10))
    }
    expect(await valuesOf()).toEqual({})
    await set(environments, 'A'.repeat(environmentBounds.nameCharsMax), 'é'.repeat(environmentBounds.valueBytesMax / 2))
    await set(environments, '_a1', '')
  })

  test('redacts its secrets from text, across workspaces and right after a change', async () => {
    const text = JSON.stringify({ said: 'hunter22 and plain text and other22 and short' })
    expect(environments.redact(text)).toBe(text)
    await set(environments, 'TOKEN', 'hunter22')
    await set(environments, 'PLAIN', 'plain text', true)
    await set(environments, 'SHORT', 'short')
    expect((await environments.of(home.workspaceId)).redactor?.redact(text)).toContain('{{TOKEN}} and plain text')
    await store.createWorkspace({ id: 'other', name: 'Other', ownerId: home.userId, at: 1 })
    await environments.set({ workspaceId: 'other', name: 'OTHER', value: 'other22', plain: false })
    await environments.of('other')
    const redacted = '{"said":"{{TOKEN}} and plain text and {{OTHER}} and short"}'
    expect(environments.redact(text)).toBe(redacted)
    // A run that started before the change may still mention it.
    await environments.unset(home.workspaceId, 'TOKEN')
    expect(environments.redact(text)).toBe(redacted)
  })

  test('cannot be opened with another key, and the error says so', async () => {
    await set(environments, 'A', 'one')
    const other = await openSecretBox({ directory: folder.path, secretKey: 'k'.repeat(32), sealHeads: async () => [] })
    await new Environments({ store, box: other, clock }).set({
      workspaceId: home.workspaceId,
      name: 'B',
      value: 'two',
      plain: false,
    })
    expect(await rejectionOf(Promise.resolve(environments.of(home.workspaceId)))).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('MILLRACE_SECRET_KEY'),
    })
  })

  test('is tied to its workspace and name on disk', async () => {
    await set(environments, 'A', 'one')
    const [row] = await store.listEnvironment(home.workspaceId)
    await store.setVariable({ ...row!, workspaceId: home.workspaceId, name: 'B', at: 1 })
    expect(await rejectionOf(Promise.resolve(environments.of(home.workspaceId)))).toMatchObject({
      message: expect.stringContaining(`environment/${home.workspaceId}/B`),
    })
  })
})
