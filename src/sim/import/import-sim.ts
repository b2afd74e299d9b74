import type { ErrorDetail } from '../../domain/errors.ts'
import { setMember } from '../../domain/run/input.ts'
import { finish, type Slices } from '../../domain/slices.ts'
import { readDocument } from '../../domain/workflow/document.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { readSimDocument, type SimDocument } from '../sim-document.ts'
import { BlockImport } from './block-import.ts'
import { edgesOf } from './edges.ts'
import { keepWithoutSecrets } from './kept-secrets.ts'
import { startOf } from './names.ts'
import type { SimReport } from './report.ts'
import { variablesOf } from './variables.ts'

/** An imported workflow, and the report about it. */
export type SimImport = { name: string; document: WorkflowDocument } & SimReport
export type SimImporting = SimImport | { details: ErrorDetail[] }

/** Converts a workflow file of Sim. If the value is not such a file, `details` says why. */
export function importSim(value: unknown): SimImporting {
  return finish(importSimInSlices(value))
}

export function* importSimInSlices(value: unknown): Slices<SimImporting> {
  const reading = readSimDocument(value)
  yield
  if ('details' in reading) return reading
  const sim = reading.document
  if (sim.blocks.size === 0) {
    return { details: [{ path: 'state.blocks', message: 'The workflow in the file has no blocks.' }] }
  }
  const blocks = new BlockImport(sim)
  yield* blocks.map()
  const variables = variablesOf(sim, blocks.assignedNames())
  yield* blocks.translate(variables.names)
  yield* blocks.removeSecrets()
  const edges = edgesOf(sim, blocks)
  yield
  const texts = textsOf(sim)
  const kept = keepWithoutSecrets({ ...blocks.lost, ...edges.lost, ...texts.lost })
  const { name, description } = texts
  const draft: Record<string, unknown> = {
    name,
    ...(description.trim() === '' ? {} : { description }),
    blocks: recordOf(blocks.blocks),
    edges: edges.edges,
    loops: recordOf(blocks.loops),
    parallels: recordOf(blocks.parallels),
    variables: recordOf(variables.variables),
    ...(blocks.notesOnCanvas.size > 0 ? { notes: recordOf(blocks.notesOnCanvas) } : {}),
    origin: { format: 'sim', ...originValues(kept.values) },
    ...sim.extras,
  }
  yield
  const read = readDocument(draft)
  if ('details' in read) return read
  const { report } = blocks
  return {
    name,
    document: read.document,
    mapped: report.mapped,
    placeholders: report.placeholders,
    credentials: report.credentials,
    notes: [
      ...report.notes,
      ...edges.notes,
      ...variables.notes,
      ...texts.notes,
      ...(kept.note === undefined ? [] : [kept.note]),
      ...sameIds(sim),
      ...sameTriggers(read.document),
    ],
  }
}

function sameIds({ renumbered: count }: SimDocument): string[] {
  const blocks = count === 1 ? 'One block' : `${count} blocks`
  return count === 0 ? [] : [`${blocks} had the ID of another one. Connect what has a new ID now.`]
}

/** In Sim, a workflow may have several triggers of one type. */
function sameTriggers({ blocks }: WorkflowDocument): string[] {
  const names = new Map<string, string[]>()
  for (const { type, name } of Object.values(blocks)) {
    if (!triggers.has(type)) continue
    const list = names.get(type)
    if (list) list.push(`"${name}"`)
    else names.set(type, [`"${name}"`])
  }
  return [...names.values()]
    .filter((list) => list.length > 1)
    .map((list) => {
      const shown = list.slice(0, 20).join(', ')
      return `A workflow can have only one trigger of each type. Keep one of these and move the others to other workflows: ${shown}.`
    })
}

const triggers = new Set([
  'api_trigger',
  'chat_trigger',
  'manual_trigger',
  'schedule',
  'webhook_trigger',
  'rss_trigger',
])

/** The name and description. `lost`: those that are too long for a document. */
function textsOf({ name: written = '', description: whole = '' }: SimDocument) {
  const clean = written.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim()
  const name = startOf(clean, 200).trim() || 'Imported workflow'
  const description = startOf(whole, 10_000)
  const lost = {
    ...(clean.length > 200 && { name: written }),
    ...(description !== whole && { description: whole }),
  }
  const notes = Object.keys(lost).map((each) => `The ${each} of the workflow is too long. It was shortened.`)
  return { name, description, lost, notes }
}

function recordOf<Value>(members: ReadonlyMap<string, Value>): Record<string, Value> {
  const record: Record<string, Value> = {}
  for (const [name, value] of members) setMember(record, name, value)
  return record
}

function originValues(lost: Record<string, unknown>): { values?: Record<string, unknown> } {
  const values = Object.fromEntries(Object.entries(lost).filter(([, value]) => value !== undefined))
  return Object.keys(values).length > 0 ? { values } : {}
}
