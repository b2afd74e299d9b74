import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { registry } from '../../../src/blocks/registry.ts'
import { readDocument } from '../../../src/domain/workflow/document.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { exportSim } from '../../../src/sim/export/export-sim.ts'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'
import { simFiles } from '../../support/sim/generate.ts'
import { generatedFile } from '../../support/sim/generated.ts'
import { lossesOf } from '../../support/sim/losses.ts'

const at = '2026-11-28T00:00:00.000Z'

function imported(file: unknown) {
  const result = importSim(file)
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  return result
}

function again(document: WorkflowDocument): WorkflowDocument {
  return sorted(imported(JSON.parse(JSON.stringify(exportSim(document, at)))).document)
}

/** The order of connections means nothing. */
function sorted(document: WorkflowDocument): WorkflowDocument {
  return { ...document, edges: document.edges.toSorted((a, b) => String(a.id).localeCompare(String(b.id))) }
}

describe('a generated workflow of Sim', () => {
  test('is imported without a loss', () => {
    fc.assert(
      fc.property(simFiles, (file) => {
        const { document, notes, placeholders, mapped } = imported(file)
        expect(lossesOf(file, document, notes)).toEqual([])
        // Every block of the file is in the report.
        const reported = new Set([...mapped, ...placeholders].map(({ blockId }) => blockId))
        expect(Object.keys(file.state.blocks).filter((id) => !reported.has(id))).toEqual([])
      }),
      { numRuns: 200 },
    )
  }, 60_000)

  test('is the same after an export and another import', () => {
    fc.assert(
      fc.property(simFiles, (file) => {
        const { document } = imported(file)
        expect(again(document)).toEqual(sorted(document))
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})

test('a workflow with blocks of any type of Sim is the same after an export and another import', () => {
  for (let index = 0; index < 200; index += 1) {
    const { document } = imported(generatedFile(index))
    expect({ index, document: again(document) }).toEqual({ index, document: sorted(document) })
  }
}, 60_000)

/** Documents that did not come from Sim, with any parameters. */
const documents = fc
  .array(
    fc.record({
      type: fc.constantFrom(...registry.keys()),
      params: fc.dictionary(
        fc.constantFrom('url', 'code', 'prompt', 'cron', 'for', 'tools', 'fields', 'x'),
        fc.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value))),
      ),
      enabled: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) =>
    readDocument({
      name: 'Native',
      folder: 'a/b',
      blocks: Object.fromEntries(parts.map((part, index) => [`b${index}`, { ...part, name: `Block ${index}` }])),
      edges: parts.slice(1).map((_, index) => ({ source: `b${index}`, target: `b${index + 1}` })),
      loops: Object.fromEntries(
        parts.flatMap(({ type }, index) =>
          type === 'loop' ? [[`b${index}`, { loopType: 'for', iterations: 2, nodes: [], onError: 'continue' }]] : [],
        ),
      ),
      parallels: Object.fromEntries(
        parts.flatMap(({ type }, index) =>
          type === 'parallel' ? [[`b${index}`, { parallelType: 'count', count: 2, nodes: [] }]] : [],
        ),
      ),
      variables: { n: { type: 'number', value: 1 } },
    }),
  )

describe('a workflow that did not come from Sim', () => {
  test('is the same after an export and an import', () => {
    fc.assert(
      fc.property(documents, (reading) => {
        if ('details' in reading) throw new Error(JSON.stringify(reading.details))
        const { origin: _, ...document } = again(reading.document)
        expect(document).toEqual(sorted(reading.document))
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})

test('the export has the form of Sim', () => {
  const file = simFile(
    [
      simBlock('s', 'start_trigger', { inputFormat: [{ name: 'topic', type: 'string' }] }, { name: 'Start' }),
      simBlock('a', 'agent', {
        ...{ model: 'groq/llama', messages: [{ role: 'user', content: 'About <start.topic>, <start.input>' }] },
        tools: [
          { type: 'custom-tool', title: 'Price', code: 'return 1' },
          { type: 'workflow_input', title: 'Sub', params: { workflowId: 'w' } },
        ],
      }),
      simBlock('c', 'condition', {
        conditions: '[{"id":"x","title":"if","value":"<a.content>"},{"id":"y","title":"else","value":""}]',
      }),
      simBlock('k', 'knowledge_of_old', { query: 'q' }),
    ],
    ['s > a', 'a > c', 'c:condition-x > k', 'c:condition-y > k'],
  )
  const { state, ...outer } = exportSim(imported(file).document, at)
  expect(outer).toEqual({ version: '1.0', exportedAt: at })
  const blocks = state['blocks'] as Record<string, { type: string; subBlocks: Record<string, { value: unknown }> }>
  expect(Object.values(blocks).map(({ type }) => type)).toEqual([
    'start_trigger',
    'agent',
    'condition',
    'knowledge_of_old',
  ])
  const subBlock = (id: string, name: string) => blocks[id]?.subBlocks[name]?.value
  expect(subBlock('a', 'model')).toBe('groq/llama')
  expect(subBlock('a', 'messages')).toEqual([{ role: 'user', content: 'About <start.topic>, <start.input>' }])
  expect(subBlock('a', 'tools')).toMatchObject([
    { type: 'custom-tool', title: 'Price', code: 'return 1' },
    { type: 'workflow_input', title: 'Sub', params: { workflowId: 'w' } },
  ])
  expect(JSON.parse(String(subBlock('c', 'conditions')))).toEqual([
    { id: 'x', title: 'if', value: '<a.content>' },
    { id: 'y', title: 'else', value: '' },
  ])
  expect(subBlock('k', 'query')).toBe('q')
  expect((state['edges'] as { sourceHandle: string }[]).map(({ sourceHandle }) => sourceHandle)).toEqual([
    ...['source', 'source', 'condition-x', 'condition-y'],
  ])
  expect(JSON.stringify(state)).not.toContain('millrace')
})
