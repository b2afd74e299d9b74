import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../../../api/api-error.ts'
import { call, type ResponseOf } from '../../../api/call.ts'
import { countOf } from '../../../parts/amount-text.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody, FormDialog } from '../../../parts/dialog.tsx'
import { TextField } from '../../../parts/field.tsx'
import { ErrorNote } from '../../../parts/states.tsx'
import { useWorkspace } from '../../../shell/workspace.tsx'
import type { Parameters } from '../log-filter.ts'
import { type RanVersion, SideEffectsNote, VersionChoice } from './version-choice.tsx'

type Job = ResponseOf<'GET /api/workspaces/:id/logs/rerun/:rerunId'>

/** Runs all entries of a filter again: asks for the version and the pace, then shows the progress. */
export function RerunDialog({
  parameters,
  count,
  onClose,
}: {
  parameters: Parameters
  count: number
  onClose: () => void
}) {
  const { id: workspaceId } = useWorkspace()
  const [version, setVersion] = useState<RanVersion>('ran')
  const [pace, setPace] = useState('5')
  const [job, setJob] = useState<Job>()
  if (job) return <Progress workspaceId={workspaceId} first={job} onClose={onClose} />
  const start = async () => {
    const filter = Object.fromEntries(
      Object.entries(parameters).filter(([name, value]) => name !== 'workspaceId' && isGiven(value)),
    )
    const perSecond = Number(pace)
    setJob(
      await call('POST /api/workspaces/:id/logs/rerun', {
        params: { id: workspaceId },
        body: { filter, version, perSecond },
      }),
    )
  }
  return (
    <FormDialog
      title="Run all again"
      description={`Runs all entries of this filter again, oldest first: ${countOf(count, 'run')}.`}
      onClose={onClose}
      onSubmit={start}
      submit={`Run ${countOf(count, 'entry', 'entries')} again`}
    >
      <VersionChoice value={version} onChange={setVersion} ran="each with its own version" live={undefined} />
      <SideEffectsNote />
      <TextField
        label="Runs per second, at most"
        type="number"
        min={0.1}
        max={100}
        step="any"
        required
        value={pace}
        onChange={setPace}
        note="At most 20 of them run at the same time."
      />
    </FormDialog>
  )
}

function isGiven(value: Parameters[string]): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
}

function Progress({ workspaceId, first, onClose }: { workspaceId: string; first: Job; onClose: () => void }) {
  const queries = useQueryClient()
  const params = { id: workspaceId, rerunId: first.id }
  const { data: job = first, error } = useQuery({
    queryKey: ['rerun', first.id],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/logs/rerun/:rerunId', { params, signal }),
    refetchInterval: ({ state }) => (state.data?.endedAt || isUnknown(state.error) ? false : 700),
  })
  const [stopError, setStopError] = useState<unknown>()
  const stop = async () => {
    try {
      queries.setQueryData(
        ['rerun', first.id],
        await call('DELETE /api/workspaces/:id/logs/rerun/:rerunId', { params }),
      )
    } catch (cause) {
      setStopError(cause)
    }
  }
  // Re-runs are in the memory of the service.
  const isLost = job.endedAt === null && (isUnknown(error) || isUnknown(stopError))
  const hasEnded = job.endedAt !== null || isLost
  useEffect(() => {
    if (hasEnded) void queries.invalidateQueries({ queryKey: ['logs'] })
  }, [hasEnded, queries])
  const done = job.started + job.refused
  return (
    <Dialog title="Run all again" description={isLost ? lostText : states[job.state]} onClose={onClose}>
      <DialogBody>
        <progress
          aria-label="Progress"
          className="h-2 w-full accent-accent"
          {...(job.total === null ? {} : { max: Math.max(1, job.total), value: done })}
        />
        <p role="status" className="text-sm tabular-nums">
          {isLost
            ? `At least ${job.started} of ${job.total ?? 'all entries'} had started. The log shows those that ended.`
            : `${job.started} of ${job.total ?? '…'} started`}
          {!isLost && job.refused > 0 && `, ${job.refused} could not run again`}
        </p>
        {job.error !== null && <p className="text-sm text-error-text">{job.error}</p>}
        {job.problems.length > 0 && (
          <ul className="flex flex-col gap-1 text-xs text-muted">
            {job.problems.map(({ logId, message }) => (
              <li key={logId} className="break-words">
                <code className="font-mono">{logId}</code>: {message}
              </li>
            ))}
          </ul>
        )}
        {!isLost && <ErrorNote error={error ?? stopError} />}
      </DialogBody>
      <DialogActions>
        {!hasEnded && <Button onClick={() => void stop()}>Stop</Button>}
        <Button look="primary" onClick={onClose}>
          {hasEnded ? 'Close' : 'Continue in the background'}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** Whether the service does not know the re-run. */
function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

const lostText = 'The service was restarted, so this re-run has ended. It starts nothing more.'

const states: Readonly<Record<Job['state'], string>> = {
  collecting: 'Collecting the entries…',
  running: 'Starting the runs. They appear in the log when they end.',
  done: 'All runs have started.',
  cancelled: 'Stopped. Runs that have started continue.',
  failed: 'Nothing was started.',
}
