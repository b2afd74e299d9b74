import { createContext, useContext } from 'react'
import { placeOfError } from '../../run/passes.ts'
import type { RunSpan } from '../../run/run-event.ts'

/** The error of the shown pass, if it belongs to a line of the code or to a branch. */
export type PlacedError = { message: string; line: number | undefined; branch: string | undefined }

export const PlacedErrorContext = createContext<PlacedError | undefined>(undefined)

export function usePlacedError(): PlacedError | undefined {
  return useContext(PlacedErrorContext)
}

/** Undefined when the error has to be shown above the fields. `branches`: those that the block has now. */
export function placedError(span: RunSpan | undefined, params: Readonly<Record<string, unknown>>) {
  const message = span?.error?.message
  if (!span || message === undefined) return undefined
  const { line, branch } = placeOfError(message)
  if (span.type === 'function' && line !== undefined && params['code']) return { message, line, branch: undefined }
  const conditions = params['conditions']
  const isThere =
    span.type === 'condition' &&
    Array.isArray(conditions) &&
    conditions.some((one: { id?: unknown } | null) => one?.id === branch)
  return isThere ? { message, line: undefined, branch } : undefined
}

/** The error of the shown pass. It is shown only here while the inspector is open. */
export function RunError({ span }: { span: RunSpan }) {
  if (!span.error) return null
  return (
    <div role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
      <p className="break-words whitespace-pre-wrap">{span.error.message}</p>
      <p className="mt-0.5 font-mono text-2xs">{span.error.code}</p>
    </div>
  )
}
