import type { TSchema } from '@sinclair/typebox'
import { findMisfits, misfitsMax } from '../domain/shape.ts'
import type { WorkflowFacts } from './block.ts'
import type { Place } from './reference-resolver.ts'
import type { Report } from './report.ts'

/** A parameter where it is fixed: its value, or the text of its code. */
export type FixedParameter = { name: string; known: unknown }

/**
 * Reports every parameter that is missing or does not fit, and what the block's own check finds. That one sees values
 * that fit: of a list with entries that do not, the others.
 */
export function reportValidationErrors(
  at: Place,
  members: readonly FixedParameter[],
  { report, facts }: { report: Report; facts: WorkflowFacts },
): void {
  const { definition, block } = at.node
  const byName = new Map(members.map((member) => [member.name, member]))
  const required = new Set(definition.parameters.required ?? [])
  const checked: Record<string, unknown> = {}
  /** By the name of a list without some of its entries: where those that are left stood. */
  const places = new Map<string, readonly number[]>()
  let isCheckable = true
  for (const [name, schema] of Object.entries(definition.parameters.properties)) {
    const member = byName.get(name)
    const path = `${at.path}.${name}`
    if (!member) {
      if (!required.has(name) || schema.default !== undefined) continue
      isCheckable = false
      report.add('error', 'MISSING_PARAMETER', path, block, `The parameter "${name}" of "${block.name}" is missing.`)
      continue
    }
    if (member.known === undefined) continue
    const misfits = validationErrorsOf(schema, member.known)
    for (const { path: inner, clause } of misfits) {
      const message = `The parameter "${name}" of "${block.name}" does not fit: ${clause}.`
      report.add('error', 'INVALID_PARAMETER', path + inner, block, message)
    }
    const sound = misfits.length === 0 ? undefined : soundEntries(member.known, misfits)
    if (sound) places.set(name, sound)
    else if (misfits.length > 0) isCheckable = false
    checked[name] = sound ? sound.map((index) => (member.known as unknown[])[index]) : member.known
  }
  if (!isCheckable) return
  for (const { level, code, path, message } of definition.check?.(checked, facts, block.params ?? {}) ?? []) {
    report.add(level, code, `${at.path}.${placed(path, places)}`, block, message)
  }
}

/** `path`: as in `.0.key`, empty for the value itself; `clause`: for people, as in `[0].key must be text, not 5`. */
export function validationErrorsOf(schema: TSchema, value: unknown): { path: string; clause: string }[] {
  return findMisfits(schema, value).map(({ path, message }) => {
    const dotted = path.replaceAll(/\[(\d+)\]/g, '.$1')
    return {
      path: dotted === '' || dotted.startsWith('.') ? dotted : `.${dotted}`,
      clause: message.replace(/^The value/, 'it').replace(/\.$/, ''),
    }
  })
}

/** Where the entries of a list stand that fit; undefined when it is not only entries that do not. */
function soundEntries(value: unknown, misfits: readonly { path: string }[]): number[] | undefined {
  const wrong = misfits.map(({ path }) => /^\.(\d+)/.exec(path)?.[1])
  // There may be more of them than are told.
  if (!Array.isArray(value) || wrong.includes(undefined) || misfits.length >= misfitsMax) return undefined
  const numbers = new Set(wrong.map(Number))
  return [...value.keys()].filter((index) => !numbers.has(index))
}

/** A path of the block's check, `list.0.name` say, in the list as it was written. */
function placed(path: string, places: ReadonlyMap<string, readonly number[]>): string {
  const [name = '', index, ...rest] = path.split('.')
  const place = places.get(name)?.[Number(index)]
  return place === undefined ? path : [name, place, ...rest].join('.')
}
