import { type ReactNode, useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { costText } from '../../../parts/amount-text.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Button } from '../../../parts/button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { JsonView } from '../../../parts/json-view.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { durationText, exactText } from '../../../parts/time-text.ts'
import type { LogDetail } from '../log-queries.ts'
import { statusLabels, statusTexts, triggerIcons, triggerLabels, versionText } from '../log-texts.tsx'
import { CostView } from './cost-view.tsx'
import { DeploymentView } from './deployment-view.tsx'
import { ErrorBox } from './error-box.tsx'
import { ExplainLink } from './explain-link.tsx'
import { FilesView } from './files-view.tsx'
import { RunAgain } from './run-again.tsx'
import { SpanDetail } from './span-detail.tsx'
import { failedSpan, pathTo, type Span, spansOf } from './trace.ts'
import { TraceWaterfall } from './trace-waterfall.tsx'
import { WebhooksView } from './webhooks-view.tsx'

/** All details of one run. The selected tab and span are stored in the URL (`view`, `span`). */
export function EntryView({ entry, mayRun }: { entry: LogDetail; mayRun: boolean }) {
  const [search, setSearch] = useSearchParams()
  const view = search.get('view') ?? 'trace'
  const spans = useMemo(() => spansOf(entry), [entry])
  const set = (name: string, value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        next.set(name, value)
        return next
      },
      { replace: true },
    )
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <Facts entry={entry} />
      <Tabs
        label="Log entry details"
        value={view}
        onChange={(next) => set('view', next)}
        tabs={[
          {
            value: 'trace',
            label: 'Trace',
            content: (
              <Trace
                entry={entry}
                spans={spans}
                mayRun={mayRun}
                spanId={search.get('span') ?? undefined}
                onSpan={(id) => set('span', id)}
              />
            ),
          },
          {
            value: 'output',
            label: 'Output',
            content: (
              <div className="p-4">
                <JsonView label="Final output" value={entry.executionData.finalOutput} openDepth={4} />
              </div>
            ),
          },
          { value: 'cost', label: 'Cost', content: <CostView cost={entry.cost} /> },
          {
            value: 'files',
            label: 'Files',
            count: entry.files?.length,
            content: <FilesView files={entry.files} />,
          },
          {
            value: 'webhooks',
            label: 'Deliveries',
            content: <WebhooksView logId={entry.id} workflowId={entry.workflowId} />,
          },
          { value: 'canvas', label: 'Canvas', content: <DeploymentView entry={entry} spans={spans} /> },
        ]}
      />
    </div>
  )
}

function Facts({ entry }: { entry: LogDetail }) {
  const { trigger, startedAt, totalDurationMs, pausedMs, cost, executionId, status, partial, labels, source } = entry
  const traceId = entry.executionData.traceSpans[0]?.traceId
  return (
    <dl className="flex shrink-0 flex-wrap gap-x-6 gap-y-2 px-4 pt-3 pb-2 text-sm">
      <Fact label="Result">
        <span className={statusTexts[status]}>{statusLabels[status]}</span>
      </Fact>
      <Fact label="Version">
        <span className="flex items-center gap-1.5">
          {versionText(entry)}
          {partial && <Badge>A part of it</Badge>}
          {source === 'rerun' && <Badge>Run again</Badge>}
          {source === 'form' && <Badge>Form</Badge>}
          {source === 'event' && <Badge>Event</Badge>}
        </span>
      </Fact>
      <Fact label="Started">{exactText(Date.parse(startedAt))}</Fact>
      <Fact label="Trigger">
        <span className="flex items-center gap-1.5">
          {triggerIcons[trigger]}
          {triggerLabels[trigger]}
        </span>
      </Fact>
      <Fact label="Duration">{durationText(totalDurationMs)}</Fact>
      {pausedMs !== null && <Fact label="Time paused">{durationText(pausedMs)}</Fact>}
      <Fact label="Cost">{costText(cost.total)}</Fact>
      {Object.keys(labels).length > 0 && (
        <Fact label="Labels">
          <span className="flex flex-wrap gap-1">
            {Object.entries(labels).map(([name, text]) => (
              <Badge key={name}>
                {name}: {text}
              </Badge>
            ))}
          </span>
        </Fact>
      )}
      <Fact label="Execution ID">
        <CopiedId id={executionId} label="Copy execution ID" />
      </Fact>
      {traceId !== undefined && (
        <Fact label="Trace ID">
          <CopiedId id={traceId} label="Copy trace ID" />
        </Fact>
      )}
    </dl>
  )
}

function CopiedId({ id, label }: { id: string; label: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="max-w-40 truncate font-mono text-xs" title={id}>
        {id}
      </code>
      <CopyButton text={id} label={label} />
    </span>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-2xs text-muted">{label}</dt>
      <dd className="flex min-h-5 items-center tabular-nums">{children}</dd>
    </div>
  )
}

function Trace({
  entry,
  spans,
  mayRun,
  spanId,
  onSpan,
}: {
  entry: LogDetail
  spans: readonly Span[]
  mayRun: boolean
  spanId: string | undefined
  onSpan: (id: string) => void
}) {
  const failed = useMemo(() => failedSpan(spans), [spans])
  const path = useMemo(() => {
    const named = spanId === undefined ? [] : pathTo(spans, spanId)
    return named.length > 0 ? named : pathTo(spans, (failed ?? spans[0])?.id ?? '')
  }, [spans, spanId, failed])
  const chosen = path.at(-1)
  const failure = failureOf(entry)
  return (
    <>
      {failure && chosen?.id !== failed?.id && (
        <div className="shrink-0 px-4 pt-3">
          <ErrorBox
            {...failure}
            action={
              failed && (
                <Button size="small" onClick={() => onSpan(failed.id)}>
                  Show failed block
                </Button>
              )
            }
          />
        </div>
      )}
      <TraceWaterfall spans={spans} chosen={chosen?.id} onChoose={onSpan} />
      <div className="min-h-0 flex-1 overflow-y-auto">
        {chosen && (
          <SpanDetail
            key={chosen.id}
            span={chosen}
            executionId={isOwn(path) ? entry.executionId : undefined}
            actions={
              mayRun && (
                <>
                  {chosen.status === 'error' && <ExplainLink entry={entry} />}
                  {isRepeatable(chosen, path) && (
                    <RunAgain
                      size="small"
                      label="Run from here"
                      entry={entry}
                      from={{ blockId: chosen.blockId ?? '', iterations: iterationsOf(path), span: chosen }}
                    />
                  )}
                </>
              )
            }
          />
        )}
      </div>
    </>
  )
}

/**
 * Whether a run can start from this span: it is a block of the workflow itself that ran, not of a sub-workflow and not
 * an inner step.
 */
function isRepeatable(span: Span, path: readonly Span[]): boolean {
  return span.blockId !== null && span.type !== 'iteration' && span.status !== 'skipped' && isOwn(path)
}

/** Whether the last span of a path belongs to the workflow itself. */
function isOwn(path: readonly Span[]): boolean {
  return path.slice(1, -1).every(({ type }) => type !== 'workflow' && type !== 'agent')
}

/** The iteration index in each container around the last span of a path, outermost first. */
function iterationsOf(path: readonly Span[]): number[] {
  return path.flatMap((span, depth) => {
    const container = path[depth - 1]
    return span.type === 'iteration' && container && depth < path.length - 1 ? [container.children.indexOf(span)] : []
  })
}

/** The error in the final output of a failed run. */
function failureOf({ level, executionData }: LogDetail): { code: string; message: string } | undefined {
  const { error, code } = (executionData.finalOutput ?? {}) as { error?: unknown; code?: unknown }
  return level === 'error' && typeof error === 'string' ? { message: error, code: String(code ?? '') } : undefined
}
