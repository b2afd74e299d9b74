import { type Static, Type as t } from '@sinclair/typebox'
import {
  applyChanges,
  type Change,
  type EditedDocument,
  edgeKey,
  edgesByKey,
  isCollection,
  valueAt,
} from '../../../../domain/edits/change.ts'
import { normaliseName } from '../../../../domain/edits/normalise-name.ts'
import { renameReferences } from '../../../../domain/edits/rename-references.ts'
import { repair } from '../../../../domain/edits/repair.ts'
import { type ErrorDetail, problemsError } from '../../../../domain/errors.ts'
import { isObject } from '../../../../domain/run/input.ts'
import type { Slices } from '../../../../domain/slices.ts'
import { findValidationErrors } from '../../../../domain/workflow/shape.ts'
import { Block, WorkflowDocument } from '../../../../domain/workflow/workflow.ts'

const id = t.String({ minLength: 1, maxLength: 200 })
const step = t.String({ minLength: 1, maxLength: 200 })
const closed = { additionalProperties: false }
const path = t.Array(step, {
  minItems: 1,
  maxItems: 8,
  description: 'Names of members from the top of the document, such as ["blocks","greet","params","code"].',
})
const ends = {
  source: id,
  target: id,
  sourceHandle: t.Optional(t.String({ maxLength: 200, description: 'The handle of the source; "source" if absent.' })),
}

const variants = [
  t.Object(
    {
      op: t.Literal('add_block'),
      block: t.Object({
        id,
        type: id,
        name: id,
        params: t.Optional(t.Record(t.String(), t.Unknown())),
        parentId: t.Optional(id),
        enabled: t.Optional(t.Boolean()),
      }),
      after: t.Optional(t.String({ minLength: 1, maxLength: 200, description: 'Also connects this block to it.' })),
      sourceHandle: t.Optional(t.String({ maxLength: 200, description: 'The handle by which "after" is left.' })),
    },
    closed,
  ),
  t.Object({ op: t.Literal('set'), path, value: t.Unknown() }, closed),
  t.Object({ op: t.Literal('remove'), path }, closed),
  t.Object({ op: t.Literal('rename_block'), id, name: id }, closed),
  t.Object({ op: t.Literal('connect'), ...ends }, closed),
  t.Object({ op: t.Literal('disconnect'), ...ends }, closed),
] as const

/** The edits of a request. */
export const Edit = t.Union([...variants], {
  expected:
    '{"op":"add_block","block":{"id","type","name","params"},"after"}, {"op":"set","path":[…],"value"}, ' +
    '{"op":"remove","path":[…]}, {"op":"rename_block","id","name"}, or ' +
    '{"op":"connect" or "disconnect","source","target","sourceHandle"}',
})
export type Edit = Static<typeof Edit>

/** The mistakes in edits. An edit of a known kind gets its own mistakes in place of the list of all kinds. */
export function explainEdits(edits: unknown, problems: readonly ErrorDetail[]): ErrorDetail[] {
  return problems.flatMap((problem) => {
    const index = /^edits\[(\d+)\]$/.exec(problem.path)?.[1]
    const edit: unknown = Array.isArray(edits) && index !== undefined ? edits[Number(index)] : undefined
    if (!isObject(edit)) return [problem]
    const variant = variants.find(({ properties }) => properties.op.const === edit['op'])
    if (!variant) return [{ path: problem.path, message: `${problem.path} must be ${Edit['expected']}.` }]
    return findValidationErrors(variant, edit).map(({ path: place, message }) => {
      return { path: `${problem.path}.${place}`, message: `${problem.path}.${message}` }
    })
  })
}

/** Each edit copies the lists of blocks and connections, so their number is limited. */
export const editsMax = 100

/**
 * Applies edits in order, as the changes that the editor makes. Throws INVALID_INPUT for the first edit that cannot be
 * applied; then nothing is changed. An edit of a large draft may read the whole draft, so others have turns in between.
 */
export function* applyEdits<Doc extends EditedDocument>(document: Doc, edits: readonly Edit[]): Slices<Doc> {
  let edited = document
  for (const [index, edit] of edits.entries()) {
    const refuse = (message: string) => problemsError('INVALID_INPUT', [{ path: `edits[${index}]`, message }])
    edited = applyEdit(edited, edit, refuse)
    yield
  }
  return edited
}

type Refuse = (message: string) => Error

function applyEdit<Doc extends EditedDocument>(document: Doc, edit: Edit, refuse: Refuse): Doc {
  const assertBlock = (blockId: string) => {
    if (Object.hasOwn(document.blocks, blockId)) return
    throw refuse(`There is no block with the ID "${blockId}". The IDs are ${idsOf(document)}.`)
  }
  switch (edit.op) {
    case 'add_block': {
      const { block, after, sourceHandle } = edit
      if (Object.hasOwn(document.blocks, block.id)) {
        throw refuse(`There is a block with the ID "${block.id}" already. Choose another ID, or use "set".`)
      }
      if (after !== undefined) assertBlock(after)
      if (block.parentId !== undefined) assertBlock(block.parentId)
      const placed = { ...block, position: placeFor(document, after) }
      const changes: Change[] = [{ path: ['blocks', block.id], before: undefined, after: placed }]
      if (after !== undefined) changes.push(connection({ source: after, target: block.id, sourceHandle }))
      return applyChanges(document, changes)
    }
    case 'set':
    case 'remove':
      return setAt(document, edit, refuse)
    case 'rename_block': {
      assertBlock(edit.id)
      const before: unknown = document.blocks[edit.id]!.name
      if (typeof before !== 'string') throw refuse('The block has no name. Set it with "set".')
      const renamed = applyChanges(document, [{ path: ['blocks', edit.id, 'name'], before, after: edit.name }])
      return renameReferences(renamed, new Map([[normaliseName(before), normaliseName(edit.name)]]))
    }
    case 'connect':
      assertBlock(edit.source)
      assertBlock(edit.target)
      return applyChanges(document, [connection(edit)])
    case 'disconnect': {
      const change = connection(edit)
      const [, key = ''] = change.path
      if (edgesByKey(document.edges).has(key)) return applyChanges(document, [{ ...change, after: undefined }])
      throw refuse('There is no such connection. get_workflow shows all of them.')
    }
  }
}

function setAt<Doc extends EditedDocument>(
  document: Doc,
  edit: Extract<Edit, { op: 'set' | 'remove' }>,
  refuse: Refuse,
): Doc {
  const [first = '', second] = edit.path
  const after = edit.op === 'set' ? edit.value : undefined
  if (first === 'edges') throw refuse('Use "connect" and "disconnect" for connections.')
  if (first === 'id' || first === 'webhooks' || first === 'workspaceId')
    throw refuse(`"${first}" cannot be edited here.`)
  if (edit.op === 'set' && !Object.hasOwn(WorkflowDocument.properties, first)) {
    throw refuse(`A workflow has no member "${first}". It has ${Object.keys(WorkflowDocument.properties).join(', ')}.`)
  }
  const [, blockId = '', member] = edit.path
  if (edit.op === 'set' && first === 'blocks' && member !== undefined && !Object.hasOwn(Block.properties, member)) {
    const place = JSON.stringify(['blocks', blockId, 'params', ...edit.path.slice(2)])
    throw refuse(`A block has no member "${member}". Parameters are in "params": use the path ${place}.`)
  }
  if (first === 'blocks' && edit.path.length === 1) throw refuse('Set or remove one block at a time.')
  if (edit.op === 'set' && first === 'blocks' && edit.path.length === 2 && !isObject(edit.value)) {
    throw refuse('A block must be an object.')
  }
  for (let depth = 1; depth < edit.path.length; depth += 1) {
    const outer = edit.path.slice(0, depth)
    const value = valueAt(document, outer)
    if (isObject(value) || (value === undefined && isCollection(outer))) continue
    const found = Array.isArray(value)
      ? 'a list. Set the whole list'
      : 'not an object. Set it first, or correct the path'
    throw refuse(`${outer.join('.')} is ${value === undefined ? 'absent. Set it first, or correct the path' : found}.`)
  }
  const before = valueAt(document, edit.path)
  if (edit.op === 'remove' && before === undefined) throw refuse(`${edit.path.join('.')} does not exist.`)
  const changed = applyChanges(document, [{ path: edit.path, before, after }])
  const isBlock = edit.op === 'remove' && first === 'blocks' && edit.path.length === 2
  if (!isBlock || second === undefined) return changed
  // The settings of a container and the connections of the block go with it.
  const settings: Change[] = ['loops', 'parallels'].flatMap((member) => {
    const own = valueAt(changed, [member, second])
    return own === undefined ? [] : [{ path: [member, second], before: own, after: undefined }]
  })
  return repair(applyChanges(changed, settings), new Set())
}

function connection({
  source,
  target,
  sourceHandle,
}: {
  source: string
  target: string
  sourceHandle?: string | undefined
}): Change {
  const edge = { source, target, ...(sourceHandle !== undefined && { sourceHandle }) }
  return { path: ['edges', edgeKey(edge)], before: undefined, after: edge }
}

/** To the right of the block before it, or else of all blocks. */
function placeFor({ blocks }: EditedDocument, after: string | undefined): { x: number; y: number } {
  const placeOf = (value: unknown) => {
    const position = isObject(value) && isObject(value['position']) ? value['position'] : {}
    const { x, y } = position
    return { x: typeof x === 'number' ? x : 0, y: typeof y === 'number' ? y : 0 }
  }
  const places = Object.values(blocks).map(placeOf)
  if (places.length === 0) return { x: 0, y: 0 }
  const before = after === undefined ? undefined : placeOf(blocks[after])
  const right = before ?? places.reduce((one, other) => (other.x > one.x ? other : one))
  const at = { x: right.x + columnWidth, y: right.y }
  const inColumn = places.filter(({ x }) => Math.abs(x - at.x) < columnWidth / 2).map(({ y }) => y)
  return inColumn.length === 0 ? at : { x: at.x, y: inColumn.reduce((one, other) => Math.max(one, other)) + rowHeight }
}

const columnWidth = 320
const rowHeight = 180

/** The IDs of blocks, for an error. */
export function idsOf({ blocks }: { blocks: object }): string {
  const ids = Object.keys(blocks)
  const shown = ids.slice(0, 30).join(', ')
  return ids.length > 30 ? `${shown}, and ${ids.length - 30} more` : shown || 'none yet'
}
