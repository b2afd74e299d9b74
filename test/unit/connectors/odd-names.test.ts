import { expect, test } from 'bun:test'
import { connectorFaults } from '../../../src/domain/connector/validate.ts'

test('members with odd names are checked like all others', () => {
  const list = { label: 'List', method: 'GET', path: '/items' }
  const shop = { id: 'shop', name: 'Shop', baseUrl: 'https://shop.example' }
  for (const name of ['\r\n', 'a\nb', '\u2028', '']) {
    for (const value of [[[]], null, 'text', 7]) {
      expect(connectorFaults({ ...shop, operations: { list, [name]: value } })).not.toEqual([])
      expect(connectorFaults({ ...shop, operations: { list: { ...list, choices: { [name]: value } } } })).not.toEqual(
        [],
      )
      expect(connectorFaults({ ...shop, operations: { list: { ...list, headers: { [name]: value } } } })).not.toEqual(
        [],
      )
    }
  }
})
