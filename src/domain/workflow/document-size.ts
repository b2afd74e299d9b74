import { AppError } from '../errors.ts'
import { isObject } from '../run/input.ts'

/** The most blocks and edges of a document that is saved or checked. */
export type DocumentLimits = { documentBlocksMax: number; documentEdgesMax: number }

const blocksSetting = 'MILLRACE_DOCUMENT_BLOCKS_MAX'
const edgesSetting = 'MILLRACE_DOCUMENT_EDGES_MAX'

/**
 * Throws `PAYLOAD_TOO_LARGE` for a document with too many members. Call this before anything else reads a document
 * from outside: ten megabytes can hold hundreds of thousands of edges. Stored documents are not checked again, so a
 * larger one that was saved under another limit still runs and can be deployed.
 */
export function assertDocumentSize(value: unknown, { documentBlocksMax, documentEdgesMax }: DocumentLimits): void {
  if (!isObject(value)) return
  for (const part of ['blocks', 'loops', 'parallels', 'variables', 'notes', 'webhooks']) {
    assertCount(countOf(value[part]), part, documentBlocksMax, blocksSetting)
  }
  assertCount(countOf(value['edges']), 'edges', documentEdgesMax, edgesSetting)
  const inContainers = countNodes(value['loops']) + countNodes(value['parallels'])
  assertCount(inContainers, 'blocks in loops and parallels', documentBlocksMax, blocksSetting)
}

function assertCount(count: number, what: string, max: number, setting: string): void {
  if (count <= max) return
  const message = `The workflow document has ${count} ${what}; at most ${max} are allowed (${setting}).`
  throw new AppError('PAYLOAD_TOO_LARGE', message)
}

function countOf(part: unknown): number {
  if (Array.isArray(part)) return part.length
  return isObject(part) ? Object.keys(part).length : 0
}

function countNodes(containers: unknown): number {
  if (!isObject(containers)) return 0
  return Object.values(containers).reduce<number>(
    (count, container) => count + (isObject(container) ? countOf(container['nodes']) : 0),
    0,
  )
}
