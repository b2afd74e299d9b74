import type { TSchema } from '@sinclair/typebox'
import type { Limits } from '../../domain/limits.ts'
import { itemsOf } from '../../domain/run/items.ts'
import { parseTemplate } from '../../domain/workflow/reference.ts'
import { Loop, Parallel } from '../../domain/workflow/workflow.ts'
import type { GraphNode } from './graph.ts'
import { parameterLabel } from './parameter-label.ts'
import type { Report } from './report.ts'

type Checking = {
  node: GraphNode
  settings: Readonly<Record<string, unknown>>
  /** Whether the document has an entry for the container at all. */
  known: boolean
  path: string
  report: Report
  limits: Limits
}

/** Checks a container's entry in `loops` or `parallels`. Members with references are checked during the run. */
export function checkContainer({ node, settings, known, path, report, limits }: Checking): void {
  const { block } = node
  const { properties } = block.type === 'loop' ? Loop : Parallel
  const label = (member: string) => parameterLabel(member, (properties as Record<string, TSchema>)[member])
  const wrong = (member: string, message: string) =>
    report.add('error', 'INVALID_CONTAINER', `${path}.${member}`, block, message)
  if (!known) {
    report.add(
      'error',
      'INVALID_CONTAINER',
      path,
      block,
      `"${block.name}" has no entry in "${block.type}s" that defines how often it runs.`,
    )
    return
  }
  if (block.type === 'loop') {
    const kind = settings['loopType']
    if (kind === 'for')
      checkCount(settings['iterations'], 'iterations', limits.loopIterationsMax, 'MILLRACE_LOOP_ITERATIONS_MAX')
    if (kind === 'forEach')
      checkItems(settings['forEachItems'], 'forEachItems', limits.loopIterationsMax, 'MILLRACE_LOOP_ITERATIONS_MAX')
    if (
      (kind === 'while' || kind === 'doWhile') &&
      !(typeof settings['condition'] === 'string' && settings['condition'].trim())
    ) {
      wrong('condition', 'Condition is empty.')
    }
    return
  }
  if (settings['parallelType'] === 'count')
    checkCount(settings['count'], 'count', limits.parallelBranchesMax, 'MILLRACE_PARALLEL_BRANCHES_MAX')
  else
    checkItems(settings['distribution'], 'distribution', limits.parallelBranchesMax, 'MILLRACE_PARALLEL_BRANCHES_MAX')
  if (settings['concurrency'] !== undefined) {
    checkCount(
      settings['concurrency'],
      'concurrency',
      limits.parallelConcurrencyMax,
      'MILLRACE_PARALLEL_CONCURRENCY_MAX',
      1,
    )
  }

  function checkCount(value: unknown, member: string, max: number, setting: string, min = 0): void {
    if (isTemplate(value)) return
    const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof count !== 'number' || !Number.isInteger(count) || count < min) {
      wrong(member, `${label(member)} must be a whole number of at least ${min}.`)
    } else if (count > max) wrong(member, `${label(member)} is ${count}; at most ${max} is allowed (${setting}).`)
  }

  function checkItems(value: unknown, member: string, max: number, setting: string): void {
    if (isTemplate(value)) return
    const items = itemsOf(value)
    if (!items) wrong(member, `${label(member)} ${isEmpty(value) ? 'is empty. Enter' : 'must be'} a list or an object.`)
    else if (items.length > max)
      wrong(member, `${label(member)} has ${items.length} entries; at most ${max} are allowed (${setting}).`)
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && parseTemplate(value).some(({ kind }) => kind !== 'text')
}
