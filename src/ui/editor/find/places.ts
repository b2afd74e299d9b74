import { own } from '../../../domain/edits/same-value.ts'
import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'
import { absolutePosition, type Block, type Document } from '../document/document.ts'
import { parameterLabel } from '../document/parameter-label.ts'

export type PlacePart = 'name' | 'params' | 'settings' | 'note'
export type PathStep = string | number

/** One text of a document that can be searched. */
export type Place = {
  /** The block or note that has the text. */
  owner: string
  part: PlacePart
  /** Where the text is in the parameters or settings. Empty for a name or note. */
  path: readonly PathStep[]
  /** `key`: the text is a name that the user gave to a member of an object. */
  kind: 'text' | 'number' | 'key'
  /** The path in the words of the form: `Conditions › 2 › Expression`. */
  label: string
  text: string
  /** Replacing does not change it: the name of a branch, which lines refer to, or a choice from a list. */
  isFixed: boolean
}

/** The part of a block type that the search needs. */
export type SearchedType = {
  parameters: { properties: Readonly<Record<string, ParameterSchema>> }
  branches: { list: string } | null
  container: { settings: { properties: Readonly<Record<string, ParameterSchema>> } } | null
}

/** All texts of a document: blocks from left to right, then notes. */
export function placesOf(document: Document, types: ReadonlyMap<string, SearchedType>): Place[] {
  const blocks = Object.values(document.blocks)
    .map((block) => ({ block, at: absolutePosition(document, block.id) }))
    .toSorted((a, b) => a.at.x - b.at.x || a.at.y - b.at.y)
  const notes = Object.values(document.notes ?? {})
  return [
    ...blocks.flatMap(({ block }) => blockPlaces(block, document, types.get(block.type))),
    ...notes.map(({ id, text }): Place => ({ ...base, owner: id, part: 'note', label: 'Text', text })),
  ]
}

/** Identifies a place in the same and in later states of a document. */
export function placeKey({ owner, part, kind, path }: Place): string {
  return JSON.stringify([owner, part, kind, ...path])
}

const base = { path: [], kind: 'text', isFixed: false } as const

function blockPlaces(block: Block, document: Document, type: SearchedType | undefined): Place[] {
  const name: Place = { ...base, owner: block.id, part: 'name', label: 'Block name', text: block.name }
  const settings = document.loops?.[block.id] ?? document.parallels?.[block.id]
  const places = [name]
  const shown = (members: Readonly<Record<string, unknown>>, part: 'params' | 'settings', schema: Schema) => {
    for (const [key, value] of Object.entries(members)) {
      const inner = own(schema, key)
      collect(value, inner, {
        ...{ owner: block.id, part, path: [key], label: parameterLabel(key, inner) },
        branches: part === 'params' ? type?.branches?.list : undefined,
        places,
      })
    }
  }
  shown(block.params ?? {}, 'params', type?.parameters.properties)
  if (settings) {
    const { id: _, nodes: __, ...own } = settings
    shown(own, 'settings', type?.container?.settings.properties)
  }
  return places
}

type Schema = Readonly<Record<string, ParameterSchema>> | undefined
type At = Pick<Place, 'owner' | 'part' | 'path' | 'label'> & { branches: string | undefined; places: Place[] }

function collect(value: unknown, schema: ParameterSchema | undefined, at: At): void {
  const { branches, places, ...place } = at
  if (typeof value === 'string' || typeof value === 'number') {
    const isBranch = branches !== undefined && place.path[0] === branches && place.path[2] === 'id'
    const isFixed = isBranch || schema?.enum !== undefined
    const kind = typeof value === 'number' ? 'number' : 'text'
    places.push({ ...place, kind, text: String(value), isFixed })
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key
    const path = [...place.path, step]
    const known = Array.isArray(value) ? schema?.items : own(schema?.properties, key)
    const isOwnKey = typeof step === 'string' && known === undefined
    const words = typeof step === 'number' ? String(step + 1) : isOwnKey ? key : parameterLabel(key, known)
    const label = `${place.label} › ${words}`
    // Members that the schema names are not texts of the user.
    if (isOwnKey && !isRecordOf(schema)) places.push({ ...place, path, kind: 'key', label, text: key, isFixed: false })
    collect(inner, known, { ...at, path, label })
  }
}

/** Whether a schema names the members of its objects. An unnamed member of such an object has no field. */
function isRecordOf(schema: ParameterSchema | undefined): boolean {
  return schema?.properties !== undefined && Object.keys(schema.properties).length > 0
}
