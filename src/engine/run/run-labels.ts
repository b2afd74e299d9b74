import { labelProblem, labelsMax, tooManyLabels } from '../../domain/run/labels.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { BlockError } from '../block.ts'
import type { Budget } from './run.ts'

/**
 * Adds labels to a run. A label of the same name is replaced; a value that is null sets none. Throws `BlockError` when
 * a label is too long, or there are too many.
 */
export function addLabels(budget: Budget, labels: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(labels)) {
    if (value === null || value === undefined) continue
    const text = asText(value)
    const problem = labelProblem(name, text)
    if (problem !== undefined) throw new BlockError('INVALID_LABEL', problem)
    budget.labels ??= new Map()
    budget.labels.set(name, text)
    if (budget.labels.size > labelsMax) throw new BlockError('INVALID_LABEL', tooManyLabels)
  }
}
