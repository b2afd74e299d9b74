import type { ErrorCode } from '../../domain/errors.ts'
import type { ErrorResponse } from '../errors.ts'
import type { RunFailureResponse } from './execute-operation.ts'

/** One example response per error code, for the OpenAPI document. */
export const errorExamples = {
  INVALID_JSON: of(
    'INVALID_JSON',
    'The body is not valid JSON: line 1, column 8: expected a colon, found the end of the text.',
  ),
  INVALID_INPUT: of('INVALID_INPUT', 'The field "city" is required.', [
    { path: 'city', message: 'The field "city" is required.' },
  ]),
  INVALID_PARAMETERS: of('INVALID_PARAMETERS', 'limit must be a whole number from 1 to 1000, not "many".', [
    { path: 'limit', message: 'limit must be a whole number from 1 to 1000, not "many".' },
  ]),
  INVALID_CURSOR: of(
    'INVALID_CURSOR',
    'This cursor does not belong to this query. Keep workspaceId, order and filters as they were, or start without a cursor.',
  ),
  API_KEY_REQUIRED: of('API_KEY_REQUIRED', 'This request needs a key: send it in the header X-API-Key.'),
  INVALID_API_KEY: of('INVALID_API_KEY', 'The key in X-API-Key does not exist, was revoked, or has expired.'),
  INVALID_SIGNATURE: of('INVALID_SIGNATURE', 'The signature of this request is not valid.'),
  SIGN_IN_REQUIRED: of('SIGN_IN_REQUIRED', 'The session has ended. Sign in again.'),
  INVALID_CREDENTIALS: of('INVALID_CREDENTIALS', 'The e-mail or the password is wrong.'),
  USAGE_LIMIT_EXCEEDED: of(
    'USAGE_LIMIT_EXCEEDED',
    'The account has reached the limit of its tier (free): 10 USD a month. Wait for the next month, or ask the ' +
      'administrator for a higher tier.',
  ),
  WORKFLOW_NOT_DEPLOYED: of('WORKFLOW_NOT_DEPLOYED', 'The workflow "weather" is not deployed. Deploy it first.'),
  FORBIDDEN: of('FORBIDDEN', 'You can read this workspace but not change it.'),
  NOT_FOUND: of('NOT_FOUND', 'There is no workflow with this id that you can see.'),
  METHOD_NOT_ALLOWED: of('METHOD_NOT_ALLOWED', '/api/workflows accepts GET, HEAD, OPTIONS, POST, but not PATCH.'),
  ALREADY_RESUMED: {
    ...of('ALREADY_RESUMED', 'This pause was answered before, and its run has continued.'),
    outcome: 'resumed',
  },
  EXPIRED: {
    ...of('EXPIRED', 'This pause has expired, and its run has continued without an answer.'),
    outcome: 'expired',
  },
  CANCELLED: { ...of('CANCELLED', 'The run of this pause has ended.'), outcome: 'cancelled' },
  IDEMPOTENCY_IN_PROGRESS: of(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still running. Repeat the request in a moment.',
  ),
  IDEMPOTENCY_MISMATCH: of(
    'IDEMPOTENCY_MISMATCH',
    'This Idempotency-Key belongs to a request with another body or another X-Execution-Mode. Use a new key.',
  ),
  RUN_ID_CONFLICT: of('RUN_ID_CONFLICT', 'A run with this ID was started before. Use a new ID.'),
  CONFLICT: of('CONFLICT', 'The workspace already has a workflow named "Weather". Choose another name.'),
  PAYLOAD_TOO_LARGE: of(
    'PAYLOAD_TOO_LARGE',
    'The body is larger than 10485760 bytes, the most that this route accepts.',
  ),
  RATE_LIMIT_EXCEEDED: of('RATE_LIMIT_EXCEEDED', 'More than 10 requests in a minute. Try again in 42 s.'),
  WORKFLOW_LIMIT: of('WORKFLOW_LIMIT', 'The workflow has reached its limits. Try again later.'),
  INTERNAL: of('INTERNAL', 'Internal error'),
  OVERLOADED: of(
    'OVERLOADED',
    '500 runs are in progress, the most that MILLRACE_RUNS_MAX allows. Try again in a moment.',
  ),
  STORAGE_UNAVAILABLE: of(
    'STORAGE_UNAVAILABLE',
    'The run could not be recorded. The disk that holds the database is full. Free space; the service continues by itself.',
  ),
  EXECUTION_FAILED: {
    error: 'GET https://weather.example.com/v1/now returned the status 503',
    code: 'EXECUTION_FAILED',
    ...runFacts('3f0c2a6e-8f1d-4c56-9a53-0d5f7e0b6f11', { duration: 812, endTime: '2025-06-01T12:00:00.812Z' }),
    blockId: 'ask',
    blockName: 'Ask',
  },
  EXECUTION_TIMEOUT: {
    error: 'The run took longer than 300000 ms, the most that MILLRACE_RUN_TIMEOUT_MS allows.',
    code: 'EXECUTION_TIMEOUT',
    ...runFacts('7d1b9a44-2f3e-4f0a-8c1d-5b6a7c8d9e0f', { duration: 300_004, endTime: '2025-06-01T12:05:00.004Z' }),
    blockId: null,
    blockName: null,
  },
} satisfies Record<ErrorCode, ErrorResponse | RunFailureResponse>

function of(code: ErrorCode, error: string, details?: ErrorResponse['details']): ErrorResponse {
  return { error, code, ...(details === undefined ? {} : { details }) }
}

function runFacts(executionId: string, { duration, endTime }: { duration: number; endTime: string }) {
  const metadata = { duration, startTime: '2025-06-01T12:00:00.000Z', endTime }
  return { success: false as const, executionId, output: null, metadata }
}
