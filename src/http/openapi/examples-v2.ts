import type { OperationExamples } from './openapi.ts'
import { resourceExamples } from './resource-examples-v2.ts'

const runId = '0197b8f2-4c1a-7d3e-9f60-2b7a5c8d1e90'
const workflowId = 'weather'
const startedAt = '2025-06-01T12:00:00.000Z'
const endedAt = '2025-06-01T12:00:00.212Z'
const output = { data: { city: 'Porto', celsius: 21.5 }, status: 200, headers: {}, error: null }
const accepted = { runId, statusUrl: `https://millrace.example.com/api/v2/workflows/${workflowId}/runs/${runId}` }
const ended = {
  ...{ runId, workflowId, status: 'completed', output, blockOutputs: null, error: null },
  ...{ startedAt, endedAt, durationMs: 212 },
}

const listedRun = {
  ...{ runId, workflowId, status: 'completed', trigger: 'api', startedAt, endedAt, durationMs: 212 },
  cost: { total: 0 },
}

const logFacts = {
  ...{ runId, workflowId, deploymentVersionId: 'weather:3', status: 'completed', level: 'info', trigger: 'api' },
  ...{ startedAt, endedAt, totalDurationMs: 212, files: null },
}
const workflow = { id: workflowId, name: 'Weather', description: 'Says how warm it is.' }
const traceSpans = [
  {
    ...{ id: 's1', name: 'Weather', type: 'workflow', blockId: null, status: 'success' },
    ...{ startTime: startedAt, endTime: endedAt, duration: 212, input: { city: 'Porto' }, output, children: [] },
  },
]

/** One example for every route of `/api/v2`. */
export const examplesV2: Readonly<Record<string, OperationExamples>> = {
  ...resourceExamples,
  executeWorkflowV2: {
    request: { input: { city: 'Porto' } },
    responses: { 200: { data: ended }, 202: { data: accepted } },
  },
  listRunsV2: { responses: { 200: { data: [listedRun], nextCursor: null } } },
  getRunV2: {
    responses: {
      200: { data: { ...listedRun, paused: null, error: null, output: null, blockOutputs: null, files: null } },
    },
  },
  listLogsV2: {
    responses: { 200: { data: [{ kind: 'workflow', ...logFacts, cost: { total: 0 }, workflow }], nextCursor: null } },
  },
  getLogV2: {
    responses: {
      200: {
        data: {
          ...logFacts,
          executedByEmail: null,
          workflow: {
            ...{
              ...workflow,
              folderPath: '/samples',
              ownerEmail: null,
              workspaceId: '5a3b1d2c-7e6f-4a8b-9c0d-1e2f3a4b5c6d',
            },
            ...{ createdAt: startedAt, updatedAt: startedAt, deleted: false },
          },
          workflowState: { blocks: {}, edges: [], loops: {}, parallels: {} },
          ...{ traceSpans, finalOutput: output, cost: { total: 0, items: null } },
          ...{ workflowInput: { city: 'Porto' }, createdAt: startedAt },
        },
      },
    },
  },
  cancelRunV2: {
    responses: {
      200: {
        data: {
          ...{ success: true, runId, redisAvailable: true, durablyRecorded: true },
          ...{ locallyAborted: false, pausedCancelled: true },
        },
      },
    },
  },
  resumeRunV2: {
    request: { contextId: '0b0f3f0e-6f7c-4a3e-9a59-2f1d5d2a8c11', input: { approved: true } },
    responses: { 202: { data: accepted } },
  },
}
