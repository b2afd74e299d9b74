import { lazy, Suspense } from 'react'
import type { Lacking, Runs } from '../run/use-runs.ts'
import type { WrittenInputs } from './run-dialog.tsx'

const RunDialog = lazy(async () => ({ default: (await import('./run-dialog.tsx')).RunDialog }))
const MessageDialog = lazy(async () => ({ default: (await import('./message-dialog.tsx')).MessageDialog }))
const ValuesDialog = lazy(async () => ({ default: (await import('../run/values-dialog.tsx')).ValuesDialog }))

/** The dialog that asks for the input of a run: because the user wants to choose it, or because it is lacking. */
export function InputDialogs({
  lacking,
  isCustom,
  ...props
}: {
  lacking: Lacking | undefined
  /** Whether the user chooses the input. */
  isCustom: boolean
  runs: Runs
  written: WrittenInputs
  /** Goes to the block that prevents the run. */
  onGo: (blockId: string) => void
  onClose: () => void
}) {
  if (lacking?.kind === 'values') {
    return (
      <Suspense>
        <ValuesDialog blockId={lacking.blockId} missing={lacking.values} runs={props.runs} onClose={props.onClose} />
      </Suspense>
    )
  }
  if (lacking?.kind === 'message') {
    return (
      <Suspense>
        <MessageDialog {...props} request={lacking.request} />
      </Suspense>
    )
  }
  if (!lacking && !isCustom) return null
  return (
    <Suspense>
      <RunDialog {...props} request={lacking?.request} />
    </Suspense>
  )
}
