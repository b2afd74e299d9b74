import { Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { eventTypeOf, type RunEventKind, runEvents } from '../../domain/webhook/run-event.ts'
import { LimitsResponse, RateState } from '../responses/account-schemas.ts'
import { Cost } from '../responses/cost-response.ts'
import { logFacts, TraceSpan } from '../responses/log-schemas.ts'
import { PauseFacts } from '../responses/pauses/pause-schemas.ts'
import { Time } from '../responses/schema-parts.ts'
import { type Json, type NamedSchemas, plainSchema } from './plain-schema.ts'

/** The payload of webhook deliveries, for the OpenAPI document and the tests that check deliveries. */
const { id: _id, ...runFacts } = logFacts
export const WebhookPayload = t.Object(
  {
    id: t.String({ description: 'The id of the event: one per run, the same for all its webhook subscriptions.' }),
    type: t.Literal(eventTypeOf('completed')),
    timestamp: t.Integer({ description: 'When the run ended, in milliseconds since 1970.' }),
    data: t.Object({
      ...runFacts,
      pausedMs: t.Optional(t.Number({ description: 'How long the run was paused; absent if it never paused.' })),
      status: oneOf(['success', 'error']),
      cost: Cost,
      finalOutput: t.Optional(t.Unknown({ description: 'With `includeFinalOutput`.' })),
      traceSpans: t.Optional(t.Array(TraceSpan, { description: 'With `includeTraceSpans`.' })),
      rateLimits: t.Optional(
        t.Object(
          { sync: RateState, async: RateState },
          { description: 'With `includeRateLimits`: when the run ended.' },
        ),
      ),
      usage: t.Optional(
        t.Object(LimitsResponse.properties.usage.properties, {
          description: 'With `includeUsageData`: when the run ended.',
        }),
      ),
    }),
    links: t.Object({
      log: t.String({ description: 'Below `/api`.' }),
      execution: t.String({ description: 'Below `/api`.' }),
    }),
  },
  { $id: 'WebhookPayload' },
)

const pausePayloadOf = (kind: 'paused' | 'resumed', id: string, described: string) =>
  t.Object(
    {
      id: t.String({ description: 'The id of the event: the same for all webhook subscriptions.' }),
      type: t.Literal(eventTypeOf(kind)),
      timestamp: t.Integer({ description: 'When the event happened, in milliseconds since 1970.' }),
      data: t.Object({
        ...{
          workflowId: t.String(),
          executionId: t.String(),
          trigger: runFacts.trigger,
          startedAt: runFacts.startedAt,
        },
        paused: t.Array(kind === 'paused' ? BegunPause : EndedPause, { description: described }),
      }),
      links: t.Object({ status: t.String({ description: 'The status of the run, below `/api`.' }) }),
    },
    { $id: id },
  )

const title = t.Optional(t.String({ description: 'The question of an approval.' }))
const BegunPause = t.Object({ ...PauseFacts.properties, title })
const EndedPause = t.Object({
  ...BegunPause.properties,
  endedAt: Time,
  outcome: oneOf(['answered', 'expired'], { description: '`expired`: its time was over, as at the end of a `wait`.' }),
})

const payloads = {
  completed: WebhookPayload,
  paused: pausePayloadOf('paused', 'PausedWebhookPayload', 'The pauses that have begun.'),
  resumed: pausePayloadOf('resumed', 'ResumedWebhookPayload', 'The pauses that have ended.'),
} as const satisfies Record<RunEventKind, unknown>

const summaries = {
  completed: 'A run ended',
  paused: 'A run paused',
  resumed: 'A paused run continues',
} as const satisfies Record<RunEventKind, string>

/** The names of the operations. */
export const webhookOperations = {
  completed: 'onWorkflowExecutionCompleted',
  paused: 'onWorkflowExecutionPaused',
  resumed: 'onWorkflowExecutionResumed',
} as const satisfies Record<RunEventKind, string>

const headers: readonly (readonly [name: string, description: string, example: string])[] = [
  ['svc-timestamp', 'When this attempt was made, in milliseconds since 1970.', '1748779200212'],
  ['svc-delivery-id', 'The id of the delivery: the same on every attempt.', 'dlv_00a1jx3k9f22b7a5c8d1e903'],
  ['Idempotency-Key', 'The same.', 'dlv_00a1jx3k9f22b7a5c8d1e903'],
  [
    'svc-signature',
    'With a secret: `t=<milliseconds>,v1=<hex>`, an HMAC-SHA256 over `<milliseconds>.<body>`. It has a second `v1` while ' +
      'a replaced secret is still valid.',
    't=1748779200212,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  ],
]

/** The member `webhooks` of the document. */
export function describeWebhooks(named: NamedSchemas, exampleOf: (operation: string) => unknown): Json {
  return Object.fromEntries(
    runEvents.map((kind) => [eventTypeOf(kind), { post: describe(kind, named, exampleOf(webhookOperations[kind])) }]),
  )
}

function describe(kind: RunEventKind, named: NamedSchemas, example: unknown): Json {
  const schema = plainSchema(payloads[kind], named)
  const eventHeader = ['svc-event', 'What happened.', eventTypeOf(kind)] as const
  return {
    operationId: webhookOperations[kind],
    summary: summaries[kind],
    description:
      'Sent to every webhook subscription that selects the event and whose filters admit the run. A 2xx response ' +
      'accepts it. After 5xx and 429 it is sent again with the same ids and body. Any other status ends the delivery.',
    tags: ['Webhooks'],
    security: [],
    parameters: [eventHeader, ...headers].map(([name, description, value]) => {
      const required = name !== 'svc-signature'
      return { name, in: 'header', required, description, schema: { type: 'string' }, example: value }
    }),
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      '2XX': { description: 'The receiver accepts the delivery.' },
      '4XX': { description: 'The receiver refuses the delivery; after 429 it is sent again.' },
    },
  }
}
