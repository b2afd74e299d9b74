import { expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { BuiltIn } from '../../../src/connectors/built-in.ts'
import { operationFindings } from '../../../src/domain/connector/findings.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { readDocument } from '../../../src/domain/workflow/document.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { blockTypes } from '../../../src/sim/block-types.ts'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { deployableFile } from '../../support/sim/deployable.ts'
import { generatedFile } from '../../support/sim/generated.ts'
import { lossesOf } from '../../support/sim/losses.ts'

const files = Array.from({ length: 200 }, (_, index) => generatedFile(index))

test('the generated files have blocks of every type', () => {
  const used = new Set(files.flatMap(({ state }) => Object.values(state.blocks).map(({ type }) => String(type))))
  expect([...blockTypes.keys()].filter((type) => !used.has(type))).toEqual([])
})

test('an import of any of 200 generated files keeps each block, connection and text, and reports on each block', () => {
  for (const [index, file] of files.entries()) {
    const result = importSim(file)
    if ('details' in result) throw new Error(`File ${index}: ${JSON.stringify(result.details)}`)
    const { document, mapped, placeholders, notes } = result
    expect({ index, losses: lossesOf(file, document, notes) }).toEqual({ index, losses: [] })
    const reported = new Set([...mapped, ...placeholders].map(({ blockId }) => blockId))
    const ids = Object.keys(file.state.blocks)
    expect({ index, silent: ids.filter((id) => !reported.has(id)) }).toEqual({ index, silent: [] })
    for (const { needs } of placeholders) expect(needs).not.toBe('')
    expect(readDocument(document)).toMatchObject({ warnings: [] })
  }
}, 60_000)

test('a complete workflow without placeholders can be deployed, apart from credentials', async () => {
  const connectors = new Map((await new BuiltIn().list()).map((connector) => [connector.id, connector]))
  let complete = 0
  for (let index = 0; index < 200; index += 1) {
    const file = deployableFile(index, connectors)
    const result = importSim(file)
    if ('details' in result) throw new Error(`File ${index}: ${JSON.stringify(result.details)}`)
    const { document, placeholders, notes } = result
    expect({ index, losses: lossesOf(file, document, notes) }).toEqual({ index, losses: [] })
    if (placeholders.length > 0) continue
    complete += 1
    const found = [
      ...compilePlan(document, registry, defaultLimits).findings,
      ...operationFindings(document, connectors),
    ]
    const errors = found.filter(({ level }) => level === 'error').map(({ path, message }) => `${path}: ${message}`)
    expect({ index, errors }).toEqual({ index, errors: [] })
  }
  expect(complete).toBeGreaterThan(100)
}, 60_000)
