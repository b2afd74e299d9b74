import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { keyOf, keyTable } from '../../../src/ui/shell/palette/key-table.ts'

test('the documentation lists the same keys as the dialog', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../../docs/editor.md')).text()
  const lines = text.split('\n')
  const head = lines.findIndex((line) => /^\| key +\| action +\| where +\|$/.test(line))
  const rows = lines.slice(head + 2, lines.indexOf('', head)).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const shown = (key: string) => `\`${key === '+' ? key : key.replace('Mod', 'Ctrl').replaceAll('+', ' ')}\``
  const expected = keyTable.flatMap(({ group, rows }) =>
    rows.map(({ ids, action }) => [ids.map((id) => shown(keyOf(id))).join(', '), action, group]),
  )
  expect(rows).toEqual(expected)
})

test('no key has two meanings in the editor', () => {
  const keys = keyTable
    .filter(({ group }) => group === 'Everywhere' || group === 'Editor')
    .flatMap(({ rows }) => rows.flatMap(({ ids }) => ids))
    // The find bar has the focus.
    .filter((id) => id !== 'next-match')
    .map(keyOf)
  expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted())
})
