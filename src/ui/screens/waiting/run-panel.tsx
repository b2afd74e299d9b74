import { useQuery, useQueryClient } from '@tanstack/react-query'
import { SquareX } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { BlockIcon } from '../../editor/canvas/block-icon.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { durationText } from '../../parts/time-text.ts'
import { useToast } from '../../parts/toast.tsx'
import { CancelRun } from './cancel-run.tsx'
import { Fact } from './fact.tsx'
import { kindLabels, pausesKey, type RunDetail, runQuery, runStatusLabels } from './pause-queries.ts'
import { pauseAddress } from './run-address.ts'

type Props = { workspaceId: string; mayWrite: boolean; onClose: () => void }

/** A run that has not ended: its state, open pauses and blocks so far. When it ends, the panel links to its entry. */
export function RunPanel({ executionId, ...props }: Props & { executionId: string }) {
  const { data, error, refetch } = useQuery(runQuery(props.workspaceId, executionId))
  return (
    <SidePanel
      label="Run"
      onClose={props.onClose}
      title={
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate text-sm font-semibold">{data?.workflowName ?? 'Run'}</span>
          {data && <Badge tone={statusTones[data.status]}>{runStatusLabels[data.status]}</Badge>}
        </span>
      }
    >
      {data ? (
        <Opened run={data} {...props} />
      ) : error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </SidePanel>
  )
}

const statusTones: Readonly<Record<RunDetail['status'], Tone>> = {
  ...{ queued: 'plain', processing: 'accent', paused: 'warn' },
  ...{ completed: 'ok', failed: 'error', cancelled: 'plain' },
}

function Opened({ run, workspaceId, mayWrite }: Props & { run: RunDetail }) {
  const queries = useQueryClient()
  const toast = useToast()
  const [isCancelling, setIsCancelling] = useState(false)
  const { workflowId, workflowName, executionId, trigger, startedAt, endedAt, logId, paused } = run
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div tabIndex={0} className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto p-4 -outline-offset-2">
      {logId !== null && (
        <p role="status" className="text-sm">
          {endings[run.status]}{' '}
          <Link href={`/logs/${logId}`} className="text-accent-text underline">
            Open the log entry
          </Link>
        </p>
      )}
      <dl className="flex flex-col gap-2 text-sm">
        <Fact label="Workflow">
          <Link href={`/workflows/${workflowId}`} className="truncate text-accent-text hover:underline">
            {workflowName ?? 'Deleted workflow'}
          </Link>
        </Fact>
        <Fact label="Trigger">{trigger}</Fact>
        <Fact label="Started">{startedAt === null ? 'Not yet' : <TimeAgo at={startedAt} />}</Fact>
        {endedAt !== null && (
          <Fact label="Ended">
            <TimeAgo at={endedAt} />
          </Fact>
        )}
        <Fact label="Execution ID">
          <code className="min-w-0 truncate font-mono text-xs">{executionId}</code>
          <CopyButton text={executionId} label="Copy execution ID" />
        </Fact>
      </dl>
      {logId === null && (
        <>
          {paused.length > 0 && (
            <Part title="Waits for">
              <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
                {paused.map((pause) => (
                  <li key={pause.contextId}>
                    <Waited pause={pause} href={pauseAddress(workspaceId, pause.contextId)} />
                  </li>
                ))}
              </ul>
            </Part>
          )}
          <Blocks run={run} />
          {mayWrite && (
            <section aria-label="Actions" className="border-t border-line pt-4">
              <Button
                look="danger"
                icon={<SquareX size={14} aria-hidden="true" />}
                onClick={() => setIsCancelling(true)}
              >
                Cancel run
              </Button>
            </section>
          )}
        </>
      )}
      <CancelRun
        run={isCancelling ? run : undefined}
        onClose={() => setIsCancelling(false)}
        onCancelled={async () => {
          toast.show({ text: 'The run was cancelled.' })
          await queries.invalidateQueries({ queryKey: pausesKey(workspaceId) })
        }}
      />
    </div>
  )
}

const endings: Readonly<Record<RunDetail['status'], string>> = {
  ...{ queued: '', processing: '', paused: '' },
  ...{ completed: 'The run has completed.', failed: 'The run has failed.', cancelled: 'The run was cancelled.' },
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-2 text-xs font-medium text-muted">{title}</h3>
      {children}
    </section>
  )
}

function Waited({ pause, href }: { pause: RunDetail['paused'][number]; href: string }) {
  const { title, blockName, kind, since, until } = pause
  return (
    <Link href={href} className="flex flex-col gap-0.5 px-3 py-2 hover:bg-hover">
      <span className="flex min-w-0 items-center gap-2 text-sm">
        <span className="truncate font-medium">{title || blockName}</span>
        <Badge tone={kind === 'approval' ? 'accent' : 'plain'}>{kindLabels[kind]}</Badge>
      </span>
      <span className="text-xs text-muted">
        since <TimeAgo at={since} />
        {until !== null && (
          <>
            {' · ends '}
            <TimeAgo at={until} />
          </>
        )}
      </span>
    </Link>
  )
}

function Blocks({ run: { blocks, blocksComplete, status, paused } }: { run: RunDetail }) {
  const waiting = new Set(paused.flatMap(({ blockId, outerBlockId }) => [blockId, outerBlockId]))
  const note = blocksComplete ? '' : 'Earlier blocks, and blocks with large values, are not listed.'
  return (
    <Part title="Blocks so far">
      {blocks.length === 0 && (
        <p className="text-sm text-muted">{status === 'queued' ? 'The run has not started.' : 'None yet.'}</p>
      )}
      <ol className="flex flex-col">
        {blocks.map(({ blockId, blockName, blockType, status: state, startedAt, durationMs }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a block may run several times, at the same time
          <li key={`${blockId} ${startedAt} ${index}`} className="flex min-h-8 items-center gap-2 text-sm">
            <BlockIcon type={blockType} size="small" />
            <span className="min-w-0 flex-1 truncate">{blockName}</span>
            {state === 'running' && waiting.has(blockId) ? (
              <Badge tone="warn">Waiting</Badge>
            ) : (
              state !== 'success' && <Badge tone={blockTones[state]}>{blockLabels[state]}</Badge>
            )}
            <span className="w-16 shrink-0 text-right text-xs text-muted">
              {durationMs === null ? <TimeAgo at={startedAt} /> : durationText(durationMs)}
            </span>
          </li>
        ))}
      </ol>
      {note !== '' && <p className="mt-2 text-xs text-muted">{note}</p>}
    </Part>
  )
}

type BlockState = RunDetail['blocks'][number]['status']
const blockLabels: Readonly<Record<BlockState, string>> = {
  ...{ running: 'Running', success: 'Succeeded', error: 'Failed', skipped: 'Skipped', cancelled: 'Cancelled' },
}
const blockTones: Readonly<Record<BlockState, Tone>> = {
  ...{ running: 'accent', success: 'ok', error: 'error', skipped: 'plain', cancelled: 'plain' },
}
