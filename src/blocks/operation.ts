import { type Static, Type as t } from '@sinclair/typebox'
import { operationOf } from '../domain/connector/connector.ts'
import { valueAt } from '../domain/pagination/value-path.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock } from '../engine/block.ts'
import { type ApiResult, callApi } from './api/call.ts'
import { isFileObject } from './api/files.ts'
import { attemptParameters } from './api/parameters.ts'
import { failedResponse } from './api/response.ts'
import { callOf } from './operation/request.ts'

const Parameters = t.Object({
  connector: t.String({ title: 'Service', description: 'The ID of a connector, such as slack.' }),
  operation: t.String({ title: 'Operation', description: 'The ID of one of its operations.' }),
  credential: t.Optional(
    t.String({ title: 'Credential', description: 'The name of a credential of the workspace for this service.' }),
  ),
  params: t.Optional(
    t.Record(t.String(), t.Unknown(), { title: 'Parameters', description: 'The parameters of the operation.' }),
  ),
  pagination: t.Optional(
    t.Object(
      {
        maxPages: t.Optional(
          t.Integer({ minimum: 1, maximum: 1_000, title: 'Most pages', description: '10 if empty.' }),
        ),
        maxItems: t.Optional(
          t.Integer({ minimum: 1, maximum: 100_000, title: 'Most items', description: '10,000 if empty.' }),
        ),
      },
      { additionalProperties: false, title: 'Pagination', description: 'How much of a long list to read.' },
    ),
  ),
  ...attemptParameters,
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/** Calls an operation of a connector. The request is sent like that of an API block. */
export const operation = defineBlock({
  type: 'operation',
  label: 'Operation',
  description: 'Calls an operation of a service, such as sending a message or adding a row.',
  kind: 'step',
  parameters: Parameters,
  modes: { connector: 'literal', operation: 'literal' },
  outputs: ['data', 'status', 'headers', 'error'],
  mayFail: true,
  restore: ({ data }, { files }) => {
    if (isFileObject(data)) files.restore(data)
  },
  run,
})

/** Calls an operation as a tool does: with the usual settings. */
export async function callOperation(
  tool: Pick<Parameters, 'connector' | 'operation' | 'credential' | 'params'>,
  context: BlockContext,
): Promise<BlockResult> {
  const { connector, operation: name, credential = '', params } = tool
  const { timeoutMs, retries } = attemptParameters
  const usual = { timeoutMs: timeoutMs.default as number, retries: retries.default as number, onError: 'stop' as const }
  return await run({ connector, operation: name, credential, params: params ?? {}, ...usual }, context)
}

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const result = await call(params, context)
  context.note({ attempts: result.attempts })
  const { data, status, headers, failure, attempts } = result
  const error = failure && { code: failure.code, message: failure.message, attempts: attempts.length }
  return { outputs: { data, status, headers, error }, ...(error ? { error } : {}) }
}

/** Calls an operation, and selects its result. Never throws a `BlockError`. */
async function call(params: Parameters, context: BlockContext): Promise<ApiResult> {
  const { connector: id, operation: name, credential = '', pagination = {}, timeoutMs, retries } = params
  try {
    const connector = await context.connector(id)
    const found = operationOf(connector, name)
    if (!found) {
      throw new BlockError('UNKNOWN_OPERATION', `The connector "${id}" has no operation "${name.slice(0, 100)}".`)
    }
    const { fields = {} } = credential === '' ? {} : await context.credential(credential)
    const settings = { credential, fields, timeoutMs, retries, limits: pagination }
    const result = await callApi(await callOf(connector, found, params.params ?? {}, settings, context), context)
    if (result.failure || found.pagination || found.result === undefined) return result
    return { ...result, data: valueAt(result.data, found.result) ?? null }
  } catch (error) {
    if (!(error instanceof BlockError)) throw error
    return { ...failedResponse(error.code, error.message), attempts: [] }
  }
}
