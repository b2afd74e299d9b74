import { isObject } from '../../../domain/run/input.ts'
import { executeDetailV2 } from '../../openapi/execute-operation-v2.ts'
import { readExecuteBodyV2 } from '../../requests/v2/execute-body-v2.ts'
import { acceptedResponseV2 } from '../../responses/v2/accepted-response.ts'
import { runResponseV2 } from '../../responses/v2/run-response.ts'
import { streamFormatV2 } from '../../streams/stream-format-v2.ts'
import type { ExecuteVersion } from '../execution/version.ts'

/** `baseUrl`: of this installation, for callers. */
export function versionTwo(baseUrl: () => string): ExecuteVersion {
  return {
    path: '/api/v2/workflows/:id/execute',
    detail: executeDetailV2,
    modeOf: (_request, body) => (isObject(body) && body['async'] === true ? 'async' : 'sync'),
    // A run ID takes its place.
    idempotencyKeyOf: () => undefined,
    read: readExecuteBodyV2,
    runIdHeader: 'x-run-id',
    accepted: ({ workflowId, executionId }, headers) =>
      acceptedResponseV2(baseUrl(), { workflowId, executionId }, headers),
    ended: runResponseV2,
    stream: streamFormatV2,
  }
}
