import { newExecutionId, newId } from '../../../src/domain/ids.ts'
import { noCost } from '../../../src/domain/run/cost.ts'
import type { RunRecord, Span } from '../../../src/domain/run/log.ts'

const at = Date.UTC(2025, 5, 1, 12, 30, 15, 250)

export function span(more: Partial<Span> = {}): Span {
  return {
    id: newId(),
    name: 'Block',
    type: 'wait',
    blockId: 'b1',
    status: 'success',
    startTime: at,
    endTime: at + 7,
    durationMs: 6.5,
    input: { ms: 5 },
    output: { waitedMs: 5 },
    error: null,
    attempts: null,
    children: [],
    ...more,
  }
}

/** A successful run of one block. */
export function runRecord(more: Partial<RunRecord> = {}): RunRecord {
  const output = { waitedMs: 5 }
  return {
    executionId: newExecutionId(),
    workflowId: 'workflow',
    workspaceId: 'workspace',
    version: 1,
    trigger: 'api',
    createdAt: null,
    secrets: undefined,
    startedAt: at,
    endedAt: at + 8,
    durationMs: 7.5,
    failure: null,
    output,
    cost: noCost,
    root: span({ type: 'workflow', blockId: null, output, children: [span({ output })] }),
    ...more,
  }
}
