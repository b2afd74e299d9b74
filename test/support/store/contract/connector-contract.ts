import { describe, expect, test } from 'bun:test'
import { connectorBounds } from '../../../../src/domain/connector/bounds.ts'
import type { ConnectorRow } from '../../../../src/store/connector-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Installed } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** The contract of every store for the connectors of workspaces. */
export function connectorContract(world: () => { store: Store; home: Installed }): void {
  describe('a connector', () => {
    const rowOf = (id: string, more: Partial<ConnectorRow> = {}): ConnectorRow => {
      const { workspaceId, userId } = world().home
      return { workspaceId, id, document: `{"id":"${id}"}`, updatedAt: 10, updatedBy: userId, ...more }
    }

    test('is added, replaced, listed by its ID, and deleted', async () => {
      const { store, home } = world()
      expect(await store.putConnector(rowOf('shop'))).toBe(true)
      expect(await store.putConnector(rowOf('crm'))).toBe(true)
      const changed = rowOf('shop', { document: '{"name":"Läden 🏪"}', updatedAt: 20 })
      expect(await store.putConnector(changed)).toBe(false)
      expect(await store.listConnectors(home.workspaceId)).toEqual([rowOf('crm'), changed])
      expect(await store.getConnector(home.workspaceId, 'shop')).toEqual(changed)
      expect(await store.deleteConnector(home.workspaceId, 'shop')).toBe(true)
      expect(await store.deleteConnector(home.workspaceId, 'shop')).toBe(false)
      expect(await store.getConnector(home.workspaceId, 'shop')).toBeUndefined()
    })

    test('belongs to its workspace', async () => {
      const { store } = world()
      await store.putConnector(rowOf('shop'))
      expect(await store.getConnector('nowhere', 'shop')).toBeUndefined()
      expect(await store.listConnectors('nowhere')).toEqual([])
      expect(await store.deleteConnector('nowhere', 'shop')).toBe(false)
      const elsewhere = store.putConnector(rowOf('shop', { workspaceId: 'nowhere' }))
      expect(await rejectionOf(elsewhere)).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('is one of a limited number, with a limited size in all', async () => {
      const { store } = world()
      for (let index = 0; index < connectorBounds.perWorkspaceMax; index += 1) {
        await store.putConnector(rowOf(`service-${index}`))
      }
      const refused = { code: 'INVALID_INPUT' }
      expect(await rejectionOf(store.putConnector(rowOf('another')))).toMatchObject(refused)
      expect(await store.putConnector(rowOf('service-0'))).toBe(false)
      const document = 'x'.repeat(connectorBounds.workspaceBytesMax)
      expect(await rejectionOf(store.putConnector(rowOf('service-0', { document })))).toMatchObject(refused)
    })
  })
}
