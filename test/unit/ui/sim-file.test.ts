import { describe, expect, test } from 'bun:test'
import { readSimDocument } from '../../../src/sim/sim-document.ts'
import { readImport } from '../../../src/ui/screens/workflows/import/read-import.ts'
import { isSimFile, renamedSimFile, simNameOf } from '../../../src/ui/screens/workflows/import/sim-file.ts'
import { block, document } from '../../support/make.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'

const file = simFile([simBlock('s', 'start_trigger')], [], { metadata: { name: 'Leads', description: 'All' } })
const { state } = file

/** The forms in which the service accepts a workflow of Sim. */
const forms: [string, unknown][] = [
  ['an export', file],
  ['an API response', { data: { workflow: { id: 'w', state } } }],
  ['an API response with the state', { data: { state } }],
  ['a workflow with its state', { workflow: { state } }],
  ['the state alone', state],
]

describe.each(forms)('%s of Sim', (_, form) => {
  test('is recognised and left to the service', () => {
    expect(isSimFile(form)).toBe(true)
    expect(readImport(JSON.stringify(form))).toEqual({ documents: [], simFiles: [form as Record<string, unknown>] })
  })

  test('can get another name, which the service reads', () => {
    if (!isSimFile(form)) throw new Error('not recognised')
    expect(simNameOf(form)).toBe('Leads')
    const reading = readSimDocument(renamedSimFile(form, 'Leads 2'))
    if ('details' in reading) throw new Error(JSON.stringify(reading.details))
    expect(reading.document).toMatchObject({ name: 'Leads 2', description: 'All' })
    expect(reading.document.blocks.size).toBe(1)
  })
})

test('a name beside the state is the one that the service reads', () => {
  const { metadata: _, ...nameless } = state
  const named = { name: 'Beside' }
  for (const form of [
    { workflow: named, state: nameless },
    { data: { workflow: named, state: nameless } },
    { data: { workflow: { ...named, state: nameless } } },
    { ...named, state: nameless },
    { ...named, ...nameless },
  ]) {
    const reading = readSimDocument(form)
    expect('document' in reading && reading.document.name).toBe('Beside')
    expect(isSimFile(form) && simNameOf(form)).toBe('Beside')
  }
})

test('our own documents and anything else are not taken for files of Sim', () => {
  const own = document({ blocks: [block('a', 'api_trigger'), block('b', 'agent', { subBlocks: {} })] })
  for (const value of [own, { blocks: {} }, {}, [], null, 'x', { state: {} }, { data: 1 }]) {
    expect(isSimFile(value)).toBe(false)
  }
})

test('a list may contain documents of both kinds', () => {
  const own = document({ blocks: [] })
  const { documents, simFiles } = readImport(JSON.stringify([own, file]))
  expect([documents.length, simFiles.length]).toEqual([1, 1])
})
