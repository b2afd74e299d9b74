import { Type as t } from '@sinclair/typebox'
import { SkippedResponse } from '../errors.ts'
import { FormFacts } from '../responses/forms/form-facts.ts'
import { PausedResponse } from '../responses/pauses/pause-schemas.ts'
import { maybe } from '../responses/schema-parts.ts'
import { jsonContent } from './content.ts'
import { RunResponse } from './execute-operation.ts'
import { operation } from './operation.ts'
import { WebhookAccepted } from './webhook-operation.ts'

const next = maybe(t.String({ description: "With `respond: next`: the run's first approval page; null for none." }))

/** The response when the run of a form has ended without a further page. */
const FormDone = t.Object({ success: t.Literal(true), executionId: t.String(), next }, { $id: 'FormDone' })

/** The response when the run of a form is paused. */
const FormPaused = t.Object({ ...PausedResponse.properties, next: t.Optional(next) }, { $id: 'FormPaused' })

/** The form routes in the OpenAPI document. The routes check and respond without schemas. */
export const formDetail = {
  ...operation({
    name: 'sendForm',
    summary: 'Send a form',
    description:
      'Starts a run of the deployed workflow that has a form trigger with this path. The body has the fields of the ' +
      'form, as a JSON object, a URL-encoded form or a multipart form. In JSON, a field for files takes file items. ' +
      'Members that are not fields are ignored. The trigger decides who may send the form: anyone, callers with the ' +
      'password (`X-Form-Password`, plain or percent-encoded), or members with a session or an API key.\n\n' +
      'With `respond: immediately`, the response is 202 as soon as the run is on disk. With `respond: workflow`, it is ' +
      'the response that the execute endpoint would send. With `respond: next`, its member `next` is the address of the ' +
      'first approval page of the run.',
    tag: 'Executions',
    access: 'everyone',
    errors: [
      ...([
        'INVALID_JSON',
        'WORKFLOW_LIMIT',
        'INVALID_INPUT',
        'API_KEY_REQUIRED',
        'INVALID_API_KEY',
        'SIGN_IN_REQUIRED',
        'INVALID_CREDENTIALS',
      ] as const),
      ...(['USAGE_LIMIT_EXCEEDED', 'FORBIDDEN', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'RATE_LIMIT_EXCEEDED'] as const),
      ...(['OVERLOADED', 'STORAGE_UNAVAILABLE', 'EXECUTION_FAILED', 'EXECUTION_TIMEOUT'] as const),
    ],
  }),
  requestBody: { content: jsonContent(t.Record(t.String(), t.Unknown())) },
  responses: {
    200: { description: 'The run has ended.', content: jsonContent(t.Union([RunResponse, FormDone])) },
    202: {
      description: 'The run is on disk or has paused, or the limits of the workflow skip the start.',
      content: jsonContent(t.Union([WebhookAccepted, FormPaused, SkippedResponse])),
    },
    default: { description: "The status, headers and body of the workflow's response block." },
  },
}

export const formFactsDetail = {
  ...operation({
    name: 'getForm',
    summary: 'Describe a form',
    description: 'Returns the content of the page. The fields of a form with a password need the password.',
    tag: 'Executions',
    access: 'everyone',
    errors: ['INVALID_CREDENTIALS', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'STORAGE_UNAVAILABLE'],
  }),
  responses: { 200: { description: 'The form.', content: jsonContent(FormFacts) } },
}
