import type { ReactNode } from 'react'
import { skippedText } from '../../../editor/run/block-run.ts'
import { costText, countText } from '../../../parts/amount-text.ts'
import { Badge } from '../../../parts/badge.tsx'
import { JsonView } from '../../../parts/json-view.tsx'
import { Cell, Row, Table } from '../../../parts/table.tsx'
import { durationText, momentText } from '../../../parts/time-text.ts'
import { ErrorBox } from './error-box.tsx'
import { FailedLine } from './failed-line.tsx'
import { pauseEndText, type Span, spanLabel } from './trace.ts'

/**
 * The details of one span: its error with the line of code, its input and output, attempts and model cost.
 * `executionId`: of the run, for a block of the workflow itself.
 */
export function SpanDetail({
  span,
  actions,
  executionId,
}: {
  span: Span
  actions?: ReactNode
  executionId?: string | undefined
}) {
  const { type, status, duration, input, output, error, attempts = [], pauses = [], model, tokens, cost } = span
  return (
    <div className="@container flex flex-col gap-3 p-4">
      <header className="flex min-h-7 flex-wrap items-center gap-2">
        <h2 className="min-w-0 truncate text-sm font-semibold">{spanLabel(span)}</h2>
        <span className="font-mono text-2xs text-muted">{type}</span>
        {span.pinned && <Badge>Pinned in the draft, did not run</Badge>}
        {span.reused && <Badge>Reused from an earlier run</Badge>}
        <span className="flex-1" />
        {duration !== null && <span className="text-xs text-muted tabular-nums">{durationText(duration)}</span>}
        {actions}
      </header>
      {status === 'skipped' && <p className="text-sm text-muted">{skippedText(span)}</p>}
      {error && <ErrorBox code={error.code} message={error.message} isCalm={status === 'cancelled'} />}
      {error && executionId && span.blockId && (
        <FailedLine executionId={executionId} blockId={span.blockId} message={error.message} />
      )}
      {model && (
        <p className="flex flex-wrap items-center gap-2 text-xs text-muted tabular-nums">
          <Badge>{model}</Badge>
          {span.tokensUnknown
            ? 'tokens not reported'
            : tokens && `${countText(tokens.prompt)} tokens in, ${countText(tokens.completion)} out`}
          {span.costUnknown ? <Badge tone="warn">Price unknown</Badge> : cost && <span>{costText(cost.total)}</span>}
          {span.timeToFirstTokenMs !== undefined && (
            <span>first token after {durationText(span.timeToFirstTokenMs)}</span>
          )}
        </p>
      )}
      {pauses.length > 0 && (
        <Table label="Pauses" head={['Paused at', 'Duration', 'Ended by']}>
          {pauses.map((pause) => (
            <Row key={pause.contextId}>
              <Cell className="text-muted tabular-nums">{momentText(Date.parse(pause.since))}</Cell>
              <Cell className="text-muted tabular-nums">
                {durationText(Date.parse(pause.endedAt) - Date.parse(pause.since))}
              </Cell>
              <Cell>{pauseEndText(pause)}</Cell>
            </Row>
          ))}
        </Table>
      )}
      {attempts.length > 1 && (
        <Table label="Attempts" head={['Attempt', 'Response', 'Duration']}>
          {attempts.map(({ number, duration: took, status: httpStatus, error: problem }) => (
            <Row key={number}>
              <Cell className="w-20 text-muted tabular-nums">{number}</Cell>
              <Cell className={problem ? 'text-error-text' : ''}>{problem ?? httpStatus ?? '–'}</Cell>
              <Cell className="w-24 text-muted tabular-nums">{took === null ? '–' : durationText(took)}</Cell>
            </Row>
          ))}
        </Table>
      )}
      {status !== 'skipped' && (
        <div className="grid items-start gap-3 @md:grid-cols-2">
          <JsonView label="Input" value={input} />
          <JsonView label="Output" value={error ? withoutError(output) : output} />
        </div>
      )}
    </div>
  )
}

/** The error stands above, once. */
function withoutError(output: unknown): unknown {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output
  const { error: _, ...rest } = output as Record<string, unknown>
  return rest
}
