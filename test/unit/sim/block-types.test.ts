import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blockTypes } from '../../../src/sim/block-types.ts'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { blockTypeTable } from '../../support/sim/block-type-table.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'

describe('the list of the block types of Sim', () => {
  test('says what the import does with each of them', () => {
    expect(blockTypes.size).toBeGreaterThan(340)
    for (const fate of blockTypes.values()) {
      const result = importSim(simFile([simBlock('b', fate.type, values[fate.type], { name: 'Block' })]))
      if ('details' in result) throw new Error(`${fate.type}: ${JSON.stringify(result.details)}`)
      const [placeholder] = result.placeholders
      const [mapped] = result.mapped
      if (fate.fate === 'placeholder') expect([fate.type, placeholder?.needs]).toEqual([fate.type, fate.remark])
      else expect([fate.type, fate.to?.split(' or ')]).toEqual([fate.type, expect.arrayContaining([mapped?.to])])
    }
  })

  test('is the table of the documentation', () => {
    const page = readFileSync(join(import.meta.dir, '../../../docs/coming-from-sim.md'), 'utf8')
    expect(rowsOf(page)).toEqual(blockTypeTable(blockTypes.values()).map(cellsOf))
  })
})

/** Blocks that are converted only for an operation that is not the default. */
const values: Readonly<Record<string, Record<string, unknown>>> = {
  file_v4: { operation: 'file_fetch' },
  file_v5: { operation: 'file_fetch' },
}

/** The rows of the last table of the page, without the padding of the formatter. */
function rowsOf(page: string): string[] {
  const [, table = ''] = page.split('## Block types')
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map(cellsOf)
}

function cellsOf(row: string): string {
  return row
    .split('|')
    .map((cell) => cell.trim())
    .join('|')
}
