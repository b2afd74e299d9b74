import { AppError } from '../../../domain/errors.ts'
import { setMember } from '../../../domain/run/input.ts'
import { parsePath, readPath } from '../../../domain/workflow/reference.ts'

/** A trace that is larger is not parsed for single values. */
export const traceCharsMax = 4_194_304

type Span = { blockId: string | null; name: string; status: string; output: unknown; children?: Span[] }

/** The selected values in a trace, by entry. Those of the last pass count for blocks in loops. */
export function outputsIn(traceSpans: string, selected: readonly string[]): Record<string, unknown> {
  if (traceSpans.length > traceCharsMax) {
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The trace of this run has more than ${traceCharsMax} characters, the most that selectedOutputs can read.`,
    )
  }
  const outputs = new Map<string, unknown>()
  const rest = JSON.parse(traceSpans) as Span[]
  for (let span = rest.shift(); span; span = rest.shift()) {
    if (span.blockId !== null && span.status !== 'skipped') outputs.set(span.blockId, span.output)
    rest.push(...(span.children ?? []))
  }
  const found: Record<string, unknown> = {}
  for (const entry of selected) {
    const dot = entry.indexOf('.')
    const isWhole = outputs.has(entry) || dot < 0
    const output = outputs.get(isWhole ? entry : entry.slice(0, dot))
    const value = isWhole ? output : readPath(output, parsePath(entry.slice(dot)))
    if (value !== undefined) setMember(found, entry, value)
  }
  return found
}
