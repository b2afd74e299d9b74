import { Type as t } from '@sinclair/typebox'
import { recordOf } from '../domain/record-of.ts'
import { isObject } from '../domain/run/input.ts'
import { labelProblem, labelsMax, tooManyLabels } from '../domain/run/labels.ts'
import type { BlockContext, FillOwn, Outputs, ParameterFinding } from '../engine/block.ts'

/** The parameter `labels` of triggers and of the variables block: texts by name, with references. */
export const Labels = t.Optional(
  recordOf(t.Unknown(), {
    title: 'Labels',
    description: 'Texts by which the run can be found in the logs, such as {"customer": "<start.customer>"}.',
  }),
)

export function checkLabels(labels: unknown): ParameterFinding[] {
  if (!isObject(labels)) return []
  const problems = Object.entries(labels).flatMap(([name, value]) => {
    // The length of a text with references is known when the block runs.
    const isKnown = typeof value === 'string' && !/[<{]/.test(value)
    return labelProblem(name, isKnown ? value : '') ?? []
  })
  if (Object.keys(labels).length > labelsMax) problems.push(tooManyLabels)
  return problems.map((message) => ({ level: 'error', code: 'INVALID_LABEL', path: 'labels', message }))
}

/** For a trigger, whose labels read its own outputs. */
export function labelWith(labels: unknown, outputs: Outputs, context: BlockContext): void {
  if (typeof labels !== 'function') return
  const filled = (labels as FillOwn)(outputs)
  if (isObject(filled)) context.label(filled)
}
