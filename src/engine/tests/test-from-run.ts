import { AppError } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import type { Span } from '../../domain/run/log.ts'
import { blockSpans } from '../../domain/run/trace.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import { damageIn } from '../manual/value-damage.ts'
import { pathOf } from './test-runner.ts'

export type RecordedRun = {
  root: Span
  output: unknown
  /** Whether the run succeeded. */
  success: boolean
  trigger: StartKind
  startedAt: number
}

type Mock = NonNullable<WorkflowTest['mocks']>[number]

/** These blocks run in a test as they do elsewhere. All others have effects outside, so the test has their outputs. */
const ownTypes: ReadonlySet<string> = new Set([
  'condition',
  'function',
  'variables',
  'response',
  'wait',
  'loop',
  'parallel',
])

/**
 * A test with the input of a run, the responses and outputs that its blocks got from outside, and what it did as the
 * expectation. Throws CONFLICT when the log does not keep enough of the run.
 */
export function testFromRun({ root, output, success, trigger, startedAt }: RecordedRun, name: string): WorkflowTest {
  assertWhole('The input', root.input)
  assertWhole('The output', output)
  const mocks: Mock[] = []
  for (const { span, place } of blockSpans(root)) {
    const isOwn = ownTypes.has(span.type) || span.type.endsWith('_trigger') || span.type === 'schedule'
    // The blocks of a called workflow belong to the output of the block that called it.
    if (isOwn || place.depth > 0 || span.status === 'skipped') continue
    assertWhole(`The output of "${span.name}"`, span.output)
    const response = span.type === 'api' ? responseIn(span) : undefined
    if (response) mocks.push({ block: span.name, response })
    else if (span.status === 'success') mocks.push({ block: span.name, output: outputsOf(span) })
    else throw notRepeatable(`"${span.name}" failed without a response, and a test cannot repeat that.`)
  }
  return {
    name,
    trigger,
    input: root.input,
    now: new Date(startedAt).toISOString(),
    mocks: distinct(mocks),
    expect: { success, ...(success ? { output } : {}), path: pathOf(root) },
  }
}

/** The response to an API block that sends one request in each pass. */
function responseIn({ input, output }: Span): Mock['response'] {
  if (!isObject(input) || !isObject(output) || 'batch' in input || isObject(input['pagination'])) return undefined
  const { status, data, headers } = output
  if (typeof status !== 'number') return undefined
  const kept = Object.entries(isObject(headers) ? headers : {}).filter((entry): entry is [string, string] => {
    return typeof entry[1] === 'string' && !ownHeaders.has(entry[0].toLowerCase())
  })
  return { status, ...(kept.length > 0 && { headers: Object.fromEntries(kept) }), data }
}

/** Headers that say nothing about the response. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'date', 'keep-alive', 'server', 'transfer-encoding'],
])

function outputsOf({ output }: Span): Record<string, unknown> {
  return isObject(output) ? output : {}
}

/** A pinned output applies to every pass of a block, so one is enough; responses answer one after the other. */
function distinct(mocks: readonly Mock[]): Mock[] {
  const pinned = new Set<string>()
  return mocks.filter(({ block, output }) => {
    if (output === undefined || block === undefined) return true
    if (pinned.has(block)) return false
    pinned.add(block)
    return true
  })
}

function assertWhole(what: string, value: unknown): void {
  const damage = damageIn(value, undefined)
  if (damage !== undefined) throw notRepeatable(`${what} is incomplete: ${damage}.`)
}

function notRepeatable(reason: string): AppError {
  return new AppError('CONFLICT', `No test can be made from this run. ${reason}`)
}
