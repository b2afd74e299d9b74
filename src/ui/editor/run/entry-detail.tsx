import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { ExplainButton } from '../assistant/explain-button.tsx'
import { duration } from '../canvas/block-summary.ts'
import { BlockOutput } from '../results/block-output.tsx'
import { shownOutput, skippedText } from './block-run.ts'
import type { RunEntry, RunState } from './run-state.ts'

/** The input and output of a block. `isErrorElsewhere`: the inspector shows the error of this pass. */
export function EntryDetail({
  entry,
  executionId,
  isErrorElsewhere,
}: {
  entry: RunEntry
  executionId: string | undefined
  isErrorElsewhere: boolean
}) {
  const { span, text } = entry
  return (
    <div className="flex flex-col gap-4 p-3">
      {span?.error && !isErrorElsewhere && (
        <ErrorText message={span.error.message} code={span.error.code}>
          <ExplainButton executionId={executionId} block={span.name} />
        </ErrorText>
      )}
      {text !== '' && !span && (
        <Part title="Text so far">
          <p className="text-sm break-words whitespace-pre-wrap" aria-live="polite">
            {text}
          </p>
        </Part>
      )}
      {span?.status === 'skipped' && <p className="text-sm text-muted">{skippedText(span)}</p>}
      {span && span.status !== 'skipped' && (
        <>
          {shownOutput(span) !== undefined && (
            <BlockOutput blockId={span.blockId} label="Output" value={shownOutput(span)} />
          )}
          {text !== '' && (
            <Part title="Streamed text">
              <p className="text-sm break-words whitespace-pre-wrap">{text}</p>
            </Part>
          )}
          <JsonView label="Input" value={span.input} />
          {(span.attempts?.length ?? 0) > 1 && (
            <Part title="Attempts">
              <ol className="flex flex-col gap-1 text-xs">
                {span.attempts?.map(({ number, status, error, duration: took }) => (
                  <li key={number} className="flex gap-3 tabular-nums">
                    <span className="text-muted">{number}.</span>
                    <span>{status ?? 'no response'}</span>
                    <span className="text-muted">{duration(took)}</span>
                    {error && <span className="min-w-0 break-words text-error-text">{error}</span>}
                  </li>
                ))}
              </ol>
            </Part>
          )}
        </>
      )}
    </div>
  )
}

/** The result of the whole run. */
export function RunOutcome({ state, onGo }: { state: RunState; onGo: (blockId: string) => void }) {
  const { phase, error, output, cost, executionId } = state
  const streamed = state.entries.filter(({ text, status }) => text !== '' && status === 'running')
  return (
    <div className="flex flex-col gap-4 p-3">
      {error && (
        <ErrorText message={error.message} code={error.code}>
          {phase === 'error' && <ExplainButton executionId={executionId} />}
          {error.blockId && (
            <Button size="small" onClick={() => onGo(error.blockId!)}>
              Go to block
            </Button>
          )}
        </ErrorText>
      )}
      {streamed.map(({ spanId, name, text }) => (
        <Part key={spanId} title={name}>
          <p className="text-sm break-words whitespace-pre-wrap" aria-live="polite">
            {text}
          </p>
        </Part>
      ))}
      {(phase === 'success' || phase === 'error') && !error && <JsonView label="Output" value={output} />}
      {(phase === 'running' || phase === 'starting') && streamed.length === 0 && (
        <p className="late text-sm text-muted">Waiting for the result…</p>
      )}
      {executionId && phase !== 'running' && phase !== 'starting' && (
        <p className="text-xs text-muted">
          Execution <code className="font-mono">{executionId}</code>
          {cost > 0 && `, ${cost.toFixed(6)} USD`}
        </p>
      )}
    </div>
  )
}

function ErrorText({ message, code, children }: { message: string; code: string; children?: ReactNode }) {
  return (
    <div className="flex items-start gap-3 rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
      <div className="min-w-0 flex-1">
        <p className="break-words whitespace-pre-wrap">{message}</p>
        <p className="mt-0.5 font-mono text-2xs">{code}</p>
      </div>
      {children}
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1 text-2xs font-medium text-muted">{title}</h3>
      {children}
    </section>
  )
}
