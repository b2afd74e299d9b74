import type { TSchema } from '@sinclair/typebox'
import { findValidationErrors, validationErrorsMax } from '../../domain/workflow/shape.ts'
import type { WorkflowFacts } from '../block.ts'
import { parameterLabel } from './parameter-label.ts'
import type { Place } from './reference-resolver.ts'
import type { Report } from './report.ts'

/** A parameter. `known`: its static value, or its source text if it is code; undefined if only a run knows it. */
export type FixedParameter = { name: string; known: unknown }

/**
 * Reports missing parameters, parameters that do not fit their schema, and the findings of the block's own check. The
 * check receives only valid values; of a list with invalid entries, it receives the valid ones.
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
  /** For lists with invalid entries, by name: the original indexes of the valid entries. */
  const places = new Map<string, readonly number[]>()
  let isCheckable = true
  for (const [name, schema] of Object.entries(definition.parameters.properties)) {
    const member = byName.get(name)
    const path = `${at.path}.${name}`
    if (!member) {
      if (!required.has(name) || schema.default !== undefined) continue
      isCheckable = false
      report.add('error', 'MISSING_PARAMETER', path, block, `${parameterLabel(name, schema)} is empty.`)
      continue
    }
    if (member.known === undefined) continue
    const errors = validationErrorsOf(schema, member.known)
    for (const { path: inner, clause } of errors) {
      report.add('error', 'INVALID_PARAMETER', path + inner, block, `${parameterLabel(name, schema, inner)} ${clause}.`)
    }
    const valid = errors.length === 0 ? undefined : validEntries(member.known, errors)
    if (valid) places.set(name, valid)
    else if (errors.length > 0) isCheckable = false
    checked[name] = valid ? valid.map((index) => (member.known as unknown[])[index]) : member.known
  }
  if (!isCheckable) return
  for (const { level, code, path, message } of definition.check?.(checked, facts, block.params ?? {}) ?? []) {
    report.add(level, code, `${at.path}.${placed(path, places)}`, block, message)
  }
}

/** `path`: such as `.0.key`, or empty for the value itself. `clause`: for messages, such as `must be text, not 5`. */
export function validationErrorsOf(schema: TSchema, value: unknown): { path: string; clause: string }[] {
  return findValidationErrors(schema, value).map(({ path, message }) => {
    const dotted = path.replaceAll(/\[(\d+)\]/g, '.$1')
    return {
      path: dotted === '' || dotted.startsWith('.') ? dotted : `.${dotted}`,
      clause: clauseOf(message.slice((path || 'The value').length + 1)),
    }
  })
}

function clauseOf(complaint: string): string {
  return complaint === 'must not be empty.' ? 'is empty' : complaint.replace(/\.$/, '')
}

/** The indexes of the valid entries of a list; undefined when errors are not only in entries. */
function validEntries(value: unknown, errors: readonly { path: string }[]): number[] | undefined {
  const wrong = errors.map(({ path }) => /^\.(\d+)/.exec(path)?.[1])
  // At the maximum, the list of errors may be incomplete.
  if (!Array.isArray(value) || wrong.includes(undefined) || errors.length >= validationErrorsMax) return undefined
  const numbers = new Set(wrong.map(Number))
  return [...value.keys()].filter((index) => !numbers.has(index))
}

/** Converts a path of the block's check, such as `list.0.name`, to the indexes of the list as written. */
function placed(path: string, places: ReadonlyMap<string, readonly number[]>): string {
  const [name = '', index, ...rest] = path.split('.')
  const place = places.get(name)?.[Number(index)]
  return place === undefined ? path : [name, place, ...rest].join('.')
}
