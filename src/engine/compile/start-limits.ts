import type { TriggerInput } from '../../domain/run/input.ts'
import { windowMsMax } from '../../domain/workflow/limit-ranges.ts'
import { asText, normaliseName, type PathStep, readPath, segmentsOf } from '../../domain/workflow/reference.ts'
import type { StartKind, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { type BeyondLimit, limitsIn, queueMaxDefault } from '../../domain/workflow/workflow-limits.ts'
import type { Graph } from './graph.ts'
import type { Report } from './report.ts'

/** The limits on the starts of a workflow. Concurrency and rate apply to each key separately. */
export type StartLimits = {
  concurrency: number
  rate: { count: number; windowMs: number } | undefined
  beyond: BeyondLimit
  queueMax: number
  debounce: { quietMs: number; maxMs: number } | undefined
  /** The key of a start. It is empty without a template, or when the input lacks the value. */
  keyOf(trigger: StartKind, input: TriggerInput): string
}

/** Compiles a document's limits on starts; undefined without any. Reports a key that reads more than triggers. */
export function compileStartLimits(document: WorkflowDocument, graph: Graph, report: Report): StartLimits | undefined {
  const { concurrency, rate, key, beyond = 'queue', queueMax = queueMaxDefault, debounce: given } = limitsIn(document)
  const debounce = given && { quietMs: given.quietMs, maxMs: given.maxMs ?? windowMsMax }
  const keyOf = compileKey(key ?? '', graph, report)
  if (concurrency === undefined && rate === undefined) {
    const limits = limitsIn(document)
    const others = Object.entries({ ...(!debounce && { key }), beyond: limits.beyond, queueMax: limits.queueMax })
    for (const [name] of others.filter(([, value]) => value !== undefined)) warnOfNoEffect(name, report)
    if (!debounce) return undefined
  }
  if (beyond === 'replace' && concurrency === undefined) {
    const message = '"replace" has no effect without limits.concurrency: starts over the rate wait, and replace no run.'
    report.add('warning', 'LIMIT_WITHOUT_EFFECT', 'limits.beyond', null, message)
  }
  return { concurrency: concurrency ?? Number.POSITIVE_INFINITY, rate, beyond, queueMax, debounce, keyOf }
}

function warnOfNoEffect(name: string, report: Report): void {
  const message = `limits.${name} has no effect without limits.concurrency or limits.rate.`
  report.add('warning', 'LIMIT_WITHOUT_EFFECT', `limits.${name}`, null, message)
}

type KeyPart = string | { trigger: StartKind; path: readonly PathStep[] }

function compileKey(template: string, { root }: Graph, report: Report): StartLimits['keyOf'] {
  const triggers = new Map<string, StartKind>()
  for (const { definition } of root.nodes) if (definition.starts) triggers.set(definition.starts, definition.starts)
  for (const { name, definition } of root.nodes) if (definition.starts) triggers.set(name, definition.starts)
  const parts: KeyPart[] = []
  for (const segment of segmentsOf(template)) {
    if (segment.kind === 'text') {
      parts.push(segment.text)
      continue
    }
    const trigger = segment.kind === 'reference' ? triggers.get(normaliseName(segment.name)) : undefined
    if (segment.kind === 'reference' && trigger !== undefined) parts.push({ trigger, path: segment.path })
    else report.add('error', 'INVALID_LIMIT_KEY', 'limits.key', null, problemOf(segment.source))
  }
  return (trigger, input) => {
    let text = ''
    for (const part of parts) {
      if (typeof part === 'string') text += part
      else if (part.trigger === trigger) text += valueText(input, part.path)
    }
    return text.length <= keyCharsMax ? text : Bun.SHA256.hash(text, 'hex')
  }
}

function problemOf(source: string): string {
  return (
    `limits.key contains ${source}, which is not a value of a trigger. ` +
    "The key is computed before the run starts, so it can read only the trigger's input, such as <api.customer>."
  )
}

/**
 * The text of a declared field, of the whole `input`, or of any other member of the input. An object or a list counts
 * as absent, because its text could have megabytes.
 */
function valueText({ input, fields }: TriggerInput, path: readonly PathStep[]): string {
  const [first = ''] = path
  const source = Object.hasOwn(fields, first) ? fields : first === 'input' ? { input } : input
  const value = readPath(source, path)
  return typeof value === 'object' ? '' : asText(value)
}

/** A longer key is replaced by its digest, because keys stay in memory. */
const keyCharsMax = 200
