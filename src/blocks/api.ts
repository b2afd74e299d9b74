import { type BlockContext, type BlockResult, defineBlock } from '../engine/block.ts'
import { type BatchParameters, callForEach } from './api/batch.ts'
import { callApi } from './api/call.ts'
import { isFileObject } from './api/files.ts'
import { check, modeOfBody, Parameters } from './api/parameters.ts'

/** Sends HTTP requests and outputs their responses. Retries temporary failures. */
export const api = defineBlock({
  type: 'api',
  label: 'API',
  description: 'Sends an HTTP request to a service and reads the response.',
  kind: 'step',
  parameters: Parameters,
  modes: { body: modeOfBody },
  repeatedBy: 'batch',
  outputs: ['data', 'status', 'headers', 'error'],
  mayFail: true,
  check,
  showInput: (params) => ('each' in params ? { batch: params['batch'] } : params),
  restore: ({ data }, { files }) => {
    for (const value of Array.isArray(data) ? (data as unknown[]) : [data])
      if (isFileObject(value)) files.restore(value)
  },
  run: (params, context) =>
    'each' in params ? runBatch(params as BatchParameters, context) : runOnce(params, context),
})

async function runOnce(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const { data, status, headers, failure, attempts } = await callApi(params, context)
  context.note({ attempts })
  const error = failure && { code: failure.code, message: failure.message, attempts: attempts.length }
  return { outputs: { data, status, headers, error }, ...(error ? { error } : {}) }
}

async function runBatch(params: BatchParameters, context: BlockContext): Promise<BlockResult> {
  const { data, status, headers, failure, failed } = await callForEach(params, context)
  const items = failed.slice(0, failedItemsMax)
  const error = failure && { code: failure.code, message: failure.message, failed: failed.length, items }
  return { outputs: { data, status, headers, error }, ...(error ? { error } : {}) }
}

/** Failed items that an error lists. */
const failedItemsMax = 100
