import { isRecord } from '../../../domain/edits/same-value.ts'

/** A pinned output: `block` is the ID of its block. */
type Mock = { block: string; output: Record<string, unknown> }

/** A document that passed the checks done in the browser. */
export type Importable = { name: string; mocks?: Mock[] } & Record<string, unknown>

/** Reads one workflow document or a list of them. Throws an error with a message for people. */
export function readImport(text: string): Importable[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not valid JSON:  ${error instanceof Error ? error.message : String(error)}`)
  }
  const all = Array.isArray(value) ? value : [value]
  if (all.length === 0) throw new Error('The list is empty.')
  return all.map((document, index) => {
    const which = all.length === 1 ? 'This document' : `Document ${index + 1}`
    if (!isRecord(document) || !isRecord(document['blocks'])) {
      throw new Error(`${which} is not a workflow: it has no blocks.`)
    }
    const { name } = document
    if (typeof name !== 'string' || name.trim() === '') throw new Error(`${which} has no name.`)
    const { mocks, ...rest } = document
    if (mocks === undefined) return { ...rest, name }
    if (Array.isArray(mocks) && mocks.every(isMock)) return { ...rest, name, mocks }
    throw new Error(`${which} has mocks that cannot be read: each needs a block and an object as output.`)
  })
}

function isMock(value: unknown): value is Mock {
  return isRecord(value) && typeof value['block'] === 'string' && isRecord(value['output'])
}
