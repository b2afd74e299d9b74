import { clip } from '../../../../domain/errors.ts'
import type { Span } from '../../../../domain/run/log.ts'
import { blockSpans, readTrace } from '../../../../domain/run/trace.ts'
import { largeBytes } from '../../../../domain/slices.ts'
import { shownStatuses } from '../../../responses/runs/run-detail.ts'
import { isoTime } from '../../../responses/schema-parts.ts'
import type { Services } from '../../../services.ts'

/** The most blocks of a trace, and the most characters of each value, that a model gets. */
const blocksMax = 100
const valueCharsMax = 2_000
const outputCharsMax = 20_000

/**
 * An ended run for a model: its output, and what each block did. Values are as in the log: without secrets, and
 * shortened. Undefined when the run is not in the log of the workspace.
 */
export async function endedRun(
  { store, settings, unsent }: Pick<Services, 'store' | 'settings' | 'unsent'>,
  workspaceId: string,
  executionId: string,
): Promise<object | undefined> {
  return await unsent.inTurn(async () => {
    const row = await store.getExecution(executionId)
    if (row?.workspaceId !== workspaceId) return undefined
    const { traceSpans, workflowId, workflow, status, trigger, source, startedAt, endedAt, durationMs, version } = row
    const { turns } = settings.bodyWithFiles
    const root = traceSpans.length > largeBytes ? await turns.run(() => readTrace(traceSpans)) : readTrace(traceSpans)
    const spans = blockSpans(root)
    return {
      ...{ executionId, workflowId, workflowName: workflow.name, status: shownStatuses[status], trigger, source },
      ...{ startedAt: isoTime(startedAt), endedAt: isoTime(endedAt), durationMs },
      version: version < 0 ? 'draft' : version,
      output: shortened(root.output, outputCharsMax),
      error: root.error,
      blocks: spans.slice(0, blocksMax).map(({ span }) => blockFacts(span)),
      blocksLeftOut: Math.max(0, spans.length - blocksMax),
    }
  })
}

function blockFacts({ blockId, name, type, status, durationMs, input, output, error }: Span): object {
  return {
    ...{ blockId, name, type, status, durationMs },
    input: shortened(input, valueCharsMax),
    output: shortened(output, valueCharsMax),
    ...(error && { error }),
  }
}

/** The value, or the beginning of its JSON text. */
function shortened(value: unknown, charsMax: number): unknown {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= charsMax ? value : `${clip(text, charsMax)} (shortened)`
}
