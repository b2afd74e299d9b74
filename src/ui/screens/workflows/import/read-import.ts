import { isRecord } from '../../../../domain/edits/same-value.ts'
import { isSimFile } from './sim-file.ts'

/** A pinned output: `block` is the ID of its block. */
type Mock = { block: string; output: Record<string, unknown> }

/** A document that passed the checks done in the browser. */
export type Importable = { name: string; mocks?: Mock[] } & Record<string, unknown>

/**
 * Reads one workflow document or a list of them. Recognises files of Sim, which the service converts. Throws an error
 * with a message for people.
 */
export function readImport(text: string): { documents: Importable[]; simFiles: Record<string, unknown>[] } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not valid JSON:  ${error instanceof Error ? error.message : String(error)}`)
  }
  const all = Array.isArray(value) ? value : [value]
  if (all.length === 0) throw new Error('The list is empty.')
  const simFiles = all.filter(isSimFile)
  const documents = all.flatMap((document, index): Importable[] => {
    if (isSimFile(document)) return []
    const which = all.length === 1 ? 'This document' : `Document ${index + 1}`
    if (!isRecord(document) || !isRecord(document['blocks'])) {
      throw new Error(`${which} is not a workflow: it has no blocks.`)
    }
    const { name } = document
    if (typeof name !== 'string' || name.trim() === '') throw new Error(`${which} has no name.`)
    const { mocks, ...rest } = document
    if (mocks === undefined) return [{ ...rest, name }]
    if (Array.isArray(mocks) && mocks.every(isMock)) return [{ ...rest, name, mocks }]
    throw new Error(`${which} has mocks that cannot be read: each needs a block and an object as output.`)
  })
  return { documents, simFiles }
}

function isMock(value: unknown): value is Mock {
  return isRecord(value) && typeof value['block'] === 'string' && isRecord(value['output'])
}
