import { isRecord } from '../../../../domain/edits/same-value.ts'

type Json = Readonly<Record<string, unknown>>

/** The places of a workflow's blocks in files and API responses of Sim. The last place is the file itself. */
const places: readonly (readonly string[])[] = [
  ...[['state'], ['data', 'state'], ['data', 'workflow', 'state'], ['workflow', 'state'], ['data']],
  [],
]

/** Whether a file was exported from Sim. Files of Millrace have `blocks` at the top, too, but no sub-blocks. */
export function isSimFile(value: unknown): value is Json {
  const place = placeOf(value)
  if (place === undefined || place.length > 0) return place !== undefined
  const list: unknown[] = Object.values((value as Json)['blocks'] as object)
  return list.some((block) => isRecord(block) && isRecord(block['subBlocks']))
}

/** The name of the workflow in a file of Sim. */
export function simNameOf(file: Json): string | undefined {
  const place = placeOf(file) ?? []
  const outer = place.slice(0, -1)
  const holders = [[...place, 'metadata'], [...outer, 'metadata'], [...outer, 'workflow'], place, outer, []]
  const names = holders.map((each) => at(file, [...each, 'name']))
  return names.map((name) => (typeof name === 'string' ? name.trim() : '')).find((name) => name !== '')
}

/** The file with another name for the workflow. */
export function renamedSimFile(file: Json, name: string): Json {
  const change = (value: unknown, [step, ...rest]: readonly string[]): Json => {
    const record = isRecord(value) ? value : {}
    if (step !== undefined) return { ...record, [step]: change(record[step], rest) }
    return { ...record, metadata: { ...(isRecord(record['metadata']) ? record['metadata'] : {}), name } }
  }
  return change(file, placeOf(file) ?? [])
}

function placeOf(value: unknown): readonly string[] | undefined {
  return places.find((place) => {
    const state = at(value, place)
    return isRecord(state) && typeof state['blocks'] === 'object' && state['blocks'] !== null
  })
}

function at(value: unknown, place: readonly string[]): unknown {
  return place.reduce<unknown>((inner, step) => (isRecord(inner) ? inner[step] : undefined), value)
}
