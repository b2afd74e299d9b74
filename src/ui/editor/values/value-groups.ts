import type { Document } from '../document/document.ts'
import { normaliseName } from '../document/document.ts'
import { containersOf, type RunValues } from './run-values.ts'

/** The values of one source: an earlier block, a surrounding loop or parallel, or the workflow's variables. */
export type ValueGroup = {
  label: string
  /** The block's type; undefined for the variables. */
  type: string | undefined
  /** The name that references use for the source. */
  reference: string
  members: readonly { name: string; path: string; value: unknown }[]
  note: string | undefined
  /** Whether it is open at first. */
  isNear: boolean
}

/** One earlier block: its outputs by name, and the name that references use for it. */
export type EarlierBlock = { id: string; reference: string; outputs: readonly string[] }

/** The groups of the values that a block can refer to: surrounding iterations, earlier blocks, variables. */
export function valueGroups(
  document: Document,
  blockId: string,
  values: RunValues,
  earlier: readonly EarlierBlock[],
): ValueGroup[] {
  const around = iterationGroups(document, blockId, values)
  const blocks = earlier.flatMap(({ id, reference, outputs }, index): ValueGroup[] => {
    const block = document.blocks[id]
    if (!block) return []
    const value = values.outputs.get(id)
    const shown = value ?? values.expected?.get(id)
    const isRecord = typeof shown === 'object' && shown !== null
    const members = membersOf(reference, outputs, isRecord ? (shown as Record<string, unknown>) : {})
    const note = value === undefined ? 'not run yet' : undefined
    return [{ label: block.name, type: block.type, reference, members, note, isNear: index === 0 }]
  })
  const names = Object.keys(document.variables ?? {})
  const variables = names.map((name) => ({
    name,
    path: `variable${pathStep(name)}`,
    value: values.variables.get(name),
  }))
  const own: ValueGroup = {
    ...{ label: 'Variables', type: undefined, reference: 'variable', members: variables, note: undefined },
    isNear: false,
  }
  return [...around, ...blocks, ...(names.length > 0 ? [own] : [])]
}

function membersOf(reference: string, outputs: readonly string[], value: Record<string, unknown>) {
  const names = errorLast([...new Set([...outputs, ...Object.keys(value)])])
  return names.map((name) => ({ name, path: `${reference}${pathStep(name)}`, value: value[name] }))
}

/** Results come first: `error` is rarely wanted. */
export function errorLast(names: readonly string[]): string[] {
  return names.toSorted((a, b) => Number(a === 'error') - Number(b === 'error'))
}

function iterationGroups(document: Document, blockId: string, values: RunValues): ValueGroup[] {
  const seen = new Set<string>()
  return containersOf(document, blockId).map((container) => {
    const { name, type, id } = container
    // The nearest loop is `<loop.…>`; those around it have their own names.
    const reference = seen.has(type) ? normaliseName(name) : type
    seen.add(type)
    const iteration = values.iterations.get(id)
    const members = (['currentItem', 'index', 'items'] as const).map((member) => ({
      ...{ name: member, path: `${reference}.${member}`, value: iteration?.[member] },
    }))
    const note = iteration ? `#${iteration.index + 1}` : undefined
    return { label: name, type, reference, members, note, isNear: true }
  })
}

/** One member in a path: `.name`, or `["a name"]`. */
export function pathStep(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
