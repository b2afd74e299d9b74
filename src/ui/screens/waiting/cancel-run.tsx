import { call } from '../../api/call.ts'
import { Confirm } from '../../parts/confirm.tsx'
import type { OpenRun } from './pause-queries.ts'

/** Asks whether to cancel a run, and cancels it. The dialog is open while `run` is set. */
export function CancelRun({
  run,
  onClose,
  onCancelled,
}: {
  run: Pick<OpenRun, 'workflowId' | 'workflowName' | 'executionId'> | undefined
  onClose: () => void
  onCancelled: () => Promise<void>
}) {
  return (
    <Confirm
      open={run !== undefined}
      onClose={onClose}
      title="Cancel this run?"
      action="Cancel run"
      onConfirm={async () => {
        if (!run) return
        const { workflowId: id, executionId } = run
        await call('POST /api/workflows/:id/executions/:executionId/cancel', { params: { id, executionId } })
        await onCancelled()
      }}
    >
      The run of “{run?.workflowName ?? 'a deleted workflow'}” ends as cancelled.
    </Confirm>
  )
}
