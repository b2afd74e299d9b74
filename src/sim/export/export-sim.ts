import { sameValue } from '../../domain/edits/same-value.ts'
import { finish, type Slices } from '../../domain/slices.ts'
import type { Block, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { importSimInSlices } from '../import/import-sim.ts'
import { type Additions, buildExport } from './build.ts'

/** A workflow file in the form of Sim's exports. */
export type SimExport = { version: string; exportedAt: string; state: Record<string, unknown> }

/**
 * Writes a workflow in the form of Sim's exports. Members that Sim ignores hold the parts that this form cannot
 * express: an import of the file must return an equal document. The file contains the secrets that the document shows.
 * `exportedAt`: ISO 8601.
 */
export function exportSim(document: WorkflowDocument, exportedAt: string): SimExport {
  return finish(exportSimInSlices(document, exportedAt))
}

export function* exportSimInSlices(document: WorkflowDocument, exportedAt: string): Slices<SimExport> {
  const plain = yield* buildExport(document, new Map())
  const reading = yield* importSimInSlices({ version: '1.0', state: plain })
  const again = 'details' in reading ? undefined : reading.document
  const state = yield* buildExport(document, additionsOf(document, again))
  return { version: '1.0', exportedAt, state }
}

/** The parts of each block that an import of the plain export would lose or change. */
function additionsOf(document: WorkflowDocument, again: WorkflowDocument | undefined): Map<string, Additions> {
  const additions = new Map<string, Additions>()
  const whole = (id: string) => {
    const block = document.blocks[id]
    if (block) additions.set(id, { type: block.type, params: block.params ?? {}, origin: block.origin ?? null })
  }
  const found = again?.blocks ?? {}
  for (const [id, block] of Object.entries(document.blocks)) {
    const other = Object.hasOwn(found, id) ? found[id] : undefined
    const part = block.origin?.values?.['of']
    if (other?.type !== block.type || (block.type === 'placeholder' && !sameValue(other, block))) {
      whole(id)
      // If an import would not make this part of an agent again, the part must stay a block of its own.
      if (typeof part === 'string') whole(part)
      continue
    }
    const added = differenceOf(block, other)
    if (added) additions.set(id, added)
  }
  for (const [id, { origin }] of Object.entries(found)) {
    const of = origin?.values?.['of']
    if (!Object.hasOwn(document.blocks, id) && typeof of === 'string') whole(of)
  }
  const edges = new Map((again?.edges ?? []).map((edge) => [edge.id, edge]))
  for (const edge of document.edges) if (!sameValue(edges.get(edge.id), edge)) whole(edge.source)
  // A block that is written as a whole has no parts, because an import does not read its tools.
  for (const [id, { type, origin }] of Object.entries(document.blocks)) {
    const of = origin?.values?.['of']
    const isPart = type === 'placeholder' && typeof of === 'string'
    if (isPart && (additions.get(of)?.type !== undefined || !Object.hasOwn(document.blocks, of))) whole(id)
  }
  return additions
}

function differenceOf(block: Block, other: Block): Additions | undefined {
  const ours = block.params ?? {}
  const theirs = other.params ?? {}
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  const changed = [...names].filter((name) => !sameValue(ours[name], theirs[name]))
  const params = Object.fromEntries(changed.filter((name) => name in ours).map((name) => [name, ours[name]]))
  const without = changed.filter((name) => !(name in ours))
  const isSameOrigin = sameValue(block.origin, other.origin)
  if (changed.length === 0 && isSameOrigin) return undefined
  return {
    params,
    ...(without.length > 0 ? { without } : {}),
    ...(isSameOrigin ? {} : { origin: block.origin ?? null }),
  }
}
