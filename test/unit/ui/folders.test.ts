import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type FolderNode, foldersIn, freeName, treeOf } from '../../../src/ui/screens/workflows/folder-tree.ts'
import { readImport } from '../../../src/ui/screens/workflows/import/read-import.ts'

type Item = { name: string; folder: string | null }

const all = (node: FolderNode<Item>): Item[] => [...node.items, ...node.folders.flatMap(all)]

describe('folders of workflows', () => {
  test('contain each workflow once and count everything below them', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'sales', '10', '9'), { maxLength: 3 })
      .map((steps) => steps.join('/') || null)
    fc.assert(
      fc.property(fc.array(fc.record({ name: fc.string({ minLength: 1 }), folder: path })), (items) => {
        const root = treeOf(items)
        expect(root.count).toBe(items.length)
        expect(all(root).toSorted(byText)).toEqual(items.toSorted(byText))
        const check = (node: FolderNode<Item>) => {
          expect(node.count).toBe(all(node).length)
          for (const item of node.items) expect(item.folder ?? '').toBe(node.path)
          node.folders.forEach(check)
        }
        check(root)
      }),
    )
  })

  test('are sorted naturally, and include their parent folders', () => {
    const items = ['b/10', 'b/9', 'A'].map((folder) => ({ name: 'x', folder }))
    expect(foldersIn(items)).toEqual(['A', 'b', 'b/9', 'b/10'])
    expect(treeOf(items).folders.map(({ name }) => name)).toEqual(['A', 'b'])
  })

  test('a name that is taken gets the first free number', () => {
    expect(freeName('Report', [])).toBe('Report')
    expect(freeName('Report', ['Report', 'Report 2', 'Report 4'])).toBe('Report 3')
  })
})

describe('an import', () => {
  test('accepts one document or a list', () => {
    const document = { name: 'A', blocks: {}, edges: [], more: 1 }
    expect(readImport(JSON.stringify(document))).toEqual({ documents: [document], simFiles: [] })
    expect(readImport(JSON.stringify([document, { ...document, name: 'B' }])).documents).toHaveLength(2)
  })

  test('reports what is wrong with anything else', () => {
    const cases = [
      '{',
      '[]',
      '1',
      '{"blocks":{}}',
      '{"name":" ","blocks":{}}',
      '[{"name":"A","blocks":{}},{"name":"B"}]',
    ]
    const said = cases.map((text) => {
      try {
        return String(readImport(text))
      } catch (error) {
        return (error as Error).message
      }
    })
    expect(said[0]).toStartWith('This is not valid JSON: ')
    expect(said.slice(1)).toEqual([
      'The list is empty.',
      'This document is not a workflow: it has no blocks.',
      'This document has no name.',
      'This document has no name.',
      'Document 2 is not a workflow: it has no blocks.',
    ])
  })
})

function byText(a: Item, b: Item): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
