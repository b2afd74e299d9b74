import { describe, expect, test } from 'bun:test'
import { environmentBounds } from '../../src/domain/environment.ts'
import { newId } from '../../src/domain/ids.ts'
import type { Store } from '../../src/store/store.ts'
import { type Installed, logRow } from './installed.ts'
import { rejectionOf } from './rejection.ts'

/** What every store promises of environments. */
export function environmentContract(world: () => { store: Store; home: Installed }): void {
  describe('an environment', () => {
    const variable = (name: string, more: { sealed?: Uint8Array; plain?: boolean; at?: number } = {}) => ({
      workspaceId: world().home.workspaceId,
      name,
      sealed: more.sealed ?? Uint8Array.of(1, 2, 3),
      plain: more.plain ?? false,
      at: more.at ?? 10,
    })

    test('lists its variables by name, as they were written last', async () => {
      const { store, home } = world()
      expect(await store.listEnvironment(home.workspaceId)).toEqual([])
      expect(await store.setVariable(variable('B', { plain: true, at: 11 }))).toBe(true)
      expect(await store.setVariable(variable('A'))).toBe(true)
      const sealed = Uint8Array.of(0, 255, 7)
      expect(await store.setVariable(variable('A', { sealed, at: 12 }))).toBe(false)
      expect(await store.listEnvironment(home.workspaceId)).toEqual([
        { name: 'A', sealed, plain: false, updatedAt: 12 },
        { name: 'B', sealed: Uint8Array.of(1, 2, 3), plain: true, updatedAt: 11 },
      ])
      expect(await store.listEnvironment('nowhere')).toEqual([])
    })

    test('tells names apart by their case', async () => {
      const { store, home } = world()
      await store.setVariable(variable('name'))
      await store.setVariable(variable('NAME'))
      expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(['NAME', 'name'])
    })

    test('loses a variable once', async () => {
      const { store, home } = world()
      await store.setVariable(variable('A'))
      expect(await store.unsetVariable('nowhere', 'A')).toBe(false)
      expect(await store.unsetVariable(home.workspaceId, 'B')).toBe(false)
      expect(await store.unsetVariable(home.workspaceId, 'A')).toBe(true)
      expect(await store.unsetVariable(home.workspaceId, 'A')).toBe(false)
      expect(await store.listEnvironment(home.workspaceId)).toEqual([])
    })

    test('of no workspace is refused', async () => {
      const { store } = world()
      const astray = { ...variable('A'), workspaceId: newId() }
      expect(await rejectionOf(store.setVariable(astray))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('has bounds, and a refusal leaves it as it was', async () => {
      const { store, home } = world()
      const half = new Uint8Array(environmentBounds.bytesMax / 2)
      await store.setVariable(variable('A', { sealed: half }))
      await store.setVariable(variable('B', { sealed: half }))
      const tooLarge = store.setVariable(variable('C', { sealed: Uint8Array.of(1) }))
      expect(await rejectionOf(tooLarge)).toMatchObject({ code: 'INVALID_INPUT' })
      expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(['A', 'B'])
      await store.unsetVariable(home.workspaceId, 'A')

      for (let number = 2; number <= environmentBounds.variablesMax; number += 1) {
        await store.setVariable(variable(`N${number}`))
      }
      const tooMany = store.setVariable(variable('ONE_MORE'))
      expect(await rejectionOf(tooMany)).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await store.setVariable(variable('N2', { at: 99 }))).toBe(false)
      expect(await store.listEnvironment(home.workspaceId)).toHaveLength(environmentBounds.variablesMax)
    })

    test('loses what was sealed with a key that is lost, and nothing else', async () => {
      const { store, home } = world()
      const lost = Uint8Array.of(1, 2, 3)
      const kept = Uint8Array.of(1, 2, 4)
      await store.setVariable(variable('A', { sealed: Uint8Array.of(1, 2, 3, 4) }))
      await store.setVariable(variable('B', { sealed: Uint8Array.of(1, 2, 4, 4) }))
      const job = { workflowId: home.workflowId, workspaceId: home.workspaceId, version: 1, trigger: 'api' } as const
      const times = { createdAt: 5, startedAt: null }
      for (const [executionId, input] of [
        ['lost', lost],
        ['kept', kept],
      ] as const) {
        await store.append([{ kind: 'job', row: { ...job, ...times, executionId, input } }])
        await store.append([{ kind: 'job-step', executionId, number: 1, content: input }])
      }
      await store.append([
        { kind: 'log', row: logRow(home, 1, { executionId: 'x', createdAt: 5 }), output: lost },
        { kind: 'log', row: logRow(home, 2, { executionId: 'y', createdAt: 5 }), output: kept },
      ])
      expect(await store.discardSealed([lost])).toEqual({ variables: 1, jobs: 1, outputs: 1 })
      expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(['B'])
      expect(await store.getJob('lost')).toBeUndefined()
      expect(await store.getJobSteps('kept')).toHaveLength(1)
      expect(await store.getJobOutput('x')).toBeUndefined()
      expect(await store.getJobOutput('y')).toEqual(kept)
      expect(await store.discardSealed([lost])).toEqual({ variables: 0, jobs: 0, outputs: 0 })
    })

    test('tells which keys its values take, each once', async () => {
      const { store } = world()
      expect(await store.sealHeads(3)).toEqual([])
      await store.setVariable(variable('A', { sealed: Uint8Array.of(1, 2, 3, 4) }))
      await store.setVariable(variable('B', { sealed: Uint8Array.of(1, 2, 3, 5) }))
      await store.setVariable(variable('C', { sealed: Uint8Array.of(9, 2, 3, 4) }))
      const heads = (await store.sealHeads(3)).toSorted(Buffer.compare)
      expect(heads).toEqual([Uint8Array.of(1, 2, 3), Uint8Array.of(9, 2, 3)])
    })
  })
}
