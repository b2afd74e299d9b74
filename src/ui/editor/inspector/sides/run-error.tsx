import { createContext, useContext } from 'react'
import { ExplainButton } from '../../assistant/explain-button.tsx'
import { placeOfError } from '../../run/passes.ts'
import type { RunSpan } from '../../run/run-event.ts'
import { lineNow } from '../code/line-now.ts'

/** The error of the shown pass, if it belongs to a line of the code or to a branch. */
export type PlacedError = { message: string; line: number | undefined; branch: string | undefined }

export const PlacedErrorContext = createContext<PlacedError | undefined>(undefined)

export function usePlacedError(): PlacedError | undefined {
  return useContext(PlacedErrorContext)
}

type Params = Readonly<Record<string, unknown>>

/**
 * Undefined when the error has to be shown above the fields. `ran`: the parameters with which the block ran. The error
 * names a line or a branch of them.
 */
export function placedError(span: RunSpan | undefined, params: Params, ran: Params | null): PlacedError | undefined {
  const message = span?.error?.message
  if (!span || message === undefined || !ran) return undefined
  const { line, branch } = placeOfError(message)
  const [before, now] = [ran['code'], params['code']]
  if (span.type === 'function' && line !== undefined && typeof before === 'string' && typeof now === 'string') {
    const marked = now === '' ? undefined : lineNow(before, now, line)
    if (marked === undefined) return undefined
    return { message: before === now ? message : `${message}\n${codeChanged}`, line: marked, branch: undefined }
  }
  if (span.type !== 'condition' || branch === undefined) return undefined
  const [then, current] = [ran, params].map((each) => expressionOf(each, branch))
  if (current === undefined) return undefined
  return { message: then === current ? message : `${message}\n${expressionChanged}`, line: undefined, branch }
}

/** Whether the code of the block is no longer the code that failed. */
export function hasOtherCode(span: RunSpan, params: Params, ran: Params | null): boolean {
  const isPlaced = span.type === 'function' && placeOfError(span.error?.message ?? '').line !== undefined
  return isPlaced && ran !== null && ran['code'] !== params['code']
}

function expressionOf({ conditions }: Params, branch: string): unknown {
  if (!Array.isArray(conditions)) return undefined
  return (conditions as ({ id?: unknown; expression?: unknown } | null)[]).find((one) => one?.id === branch)?.expression
}

export const codeChanged = 'The code has changed since this run.'
const expressionChanged = 'The expression has changed since this run.'

/** The error of the shown pass. It is shown only here while the inspector is open. */
export function RunError({
  span,
  note,
  executionId,
}: {
  span: RunSpan
  note: string | undefined
  executionId: string | undefined
}) {
  if (!span.error) return null
  return (
    <div role="alert" className="flex items-start gap-3 rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
      <div className="min-w-0 flex-1">
        <p className="break-words whitespace-pre-wrap">{span.error.message}</p>
        {note && <p className="mt-0.5">{note}</p>}
        <p className="mt-0.5 font-mono text-2xs">{span.error.code}</p>
      </div>
      <ExplainButton executionId={executionId} block={span.name} />
    </div>
  )
}
