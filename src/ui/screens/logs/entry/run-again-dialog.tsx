import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../../api/call.ts'
import { Button } from '../../../parts/button.tsx'
import { FormDialog } from '../../../parts/dialog.tsx'
import { JsonView } from '../../../parts/json-view.tsx'
import { useToast } from '../../../parts/toast.tsx'
import type { LogDetail } from '../log-queries.ts'
import { versionText } from '../log-texts.tsx'
import { type RanVersion, SideEffectsNote, useLiveVersion, VersionChoice } from '../rerun/version-choice.tsx'
import type { RunFrom } from './run-again.tsx'
import { spansOf } from './trace.ts'

const CodeEditor = lazy(async () => ({
  default: (await import('../../../editor/inspector/code-editor.tsx')).CodeEditor,
}))

/**
 * Asks which version to use, and shows what will be sent. The input of a whole run can be changed. Opens the new log
 * entry when the run has ended.
 */
export function RunAgainDialog({
  entry,
  from,
  onClose,
}: {
  entry: LogDetail
  from: RunFrom | undefined
  onClose: () => void
}) {
  const { workflowId, executionId, workspaceId } = entry
  const queries = useQueryClient()
  const toast = useToast()
  const [path, navigate] = useLocation()
  const [version, setVersion] = useState<RanVersion>('ran')
  const live = useLiveVersion(workflowId)
  const input = from ? from.span.input : inputOf(entry)
  const written = JSON.stringify(input ?? {}, null, 2)
  const [text, setText] = useState(written)
  const aborter = useRef(new AbortController())
  useEffect(() => {
    aborter.current = new AbortController()
    return () => aborter.current.abort()
  }, [])
  const run = async () => {
    const { signal } = aborter.current
    const part = from && { executionId, blockId: from.blockId, iterations: from.iterations }
    const { executionId: fresh } = await call('POST /api/editor/workflows/:id/runs', {
      params: { id: workflowId },
      // The service has the complete input, also where the log shortens it.
      body: part ? { version, from: part } : { version, again: { executionId }, ...changed(text, written) },
    })
    const id = await entryOf(workspaceId, fresh, signal)
    if (id === undefined) return
    void queries.invalidateQueries({ queryKey: ['logs'] })
    const search = searchFor(location.search, id, !path.startsWith('/logs/'))
    onClose()
    navigate(path.startsWith('/logs/') ? `/logs/${id}${search}` : path + search)
    toast.show({ text: 'The run has ended. This is its log entry.' })
  }
  return (
    <FormDialog
      title={from ? `Run from ${from.span.name}` : 'Run again'}
      description={
        from
          ? 'Runs this block and the blocks after it. Everything before it keeps the outputs of this run.'
          : 'Runs the whole workflow with the input of this run.'
      }
      onClose={onClose}
      onSubmit={run}
      submit="Run"
    >
      <VersionChoice value={version} onChange={setVersion} ran={versionText(entry)} live={live} />
      <SideEffectsNote />
      {from ? (
        <JsonView label="Input of the block in this run" value={input} />
      ) : (
        <div className="flex flex-col gap-1">
          <div className="flex min-h-7 items-center justify-between">
            <span className="text-xs font-medium">Input that will be sent (JSON)</span>
            {text !== written && (
              <Button size="small" look="quiet" onClick={() => setText(written)}>
                Reset
              </Button>
            )}
          </div>
          <Suspense fallback={<div className="skeleton h-28" />}>
            <CodeEditor
              language="json"
              label="Input"
              text={text}
              onChange={setText}
              readOnly={false}
              suggestions={[]}
              describedBy={undefined}
            />
          </Suspense>
        </div>
      )}
    </FormDialog>
  )
}

/** A request or a due time is not an input of the run: the trigger has it as its outputs. */
function inputOf(entry: LogDetail): unknown {
  const [root] = spansOf(entry)
  const trigger = root?.children?.find(({ type, status }) => ownInput.has(type) && status === 'success')
  return trigger ? trigger.output : root?.input
}

const ownInput: ReadonlySet<string> = new Set(['webhook_trigger', 'schedule', 'poll_trigger', 'rss_trigger'])

/** The input, if it was changed. Throws when it is not JSON. */
function changed(text: string, written: string): { input?: unknown } {
  if (text === written) return {}
  try {
    return { input: JSON.parse(text) as unknown }
  } catch (error) {
    throw new Error(`The input is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Keeps the selected tab for the new entry. */
function searchFor(search: string, id: string, isList: boolean): string {
  const next = new URLSearchParams(search)
  next.delete('span')
  if (isList) next.set('entry', id)
  return next.size === 0 ? '' : `?${next}`
}

/** Waits for the log entry of a run and returns its id. Returns undefined when aborted. */
async function entryOf(workspaceId: string, executionId: string, signal: AbortSignal): Promise<string | undefined> {
  for (let waitMs = 120; !signal.aborted; waitMs = Math.min(2_000, waitMs * 1.5)) {
    const found = await call('GET /api/editor/logs', { query: { workspaceId, executionId, limit: 1 }, signal })
    const id = found.data[0]?.id
    if (id !== undefined) return id
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  return undefined
}
