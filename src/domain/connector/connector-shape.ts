import { Type as t } from '@sinclair/typebox'
import { credentialKindNames } from '../credential/kinds.ts'
import { oneOf } from '../one-of.ts'
import { Pagination } from '../pagination/pagination.ts'
import { recordOf } from '../record-of.ts'
import { connectorId } from './bounds.ts'

// Loaded on first use, because few installations add connectors. The types are in connector.ts.

const text = (charsMax: number) => t.String({ maxLength: charsMax })
const path = t.String({ minLength: 1, maxLength: 500 })

/**
 * When a response that looks like a success is a failure, and where a response says what went wrong. With `when` and
 * `is`: when the value at the path is this one. With `exists`: when there is a value at the path.
 */
const ErrorRule = t.Object(
  {
    when: t.Optional(path),
    is: t.Optional(t.Unknown()),
    exists: t.Optional(path),
    message: t.Optional(path),
  },
  { additionalProperties: false },
)

/** The choices of a parameter: the items that another operation lists. `value` and `label`: paths in an item. */
const Choices = t.Object({ operation: path, value: path, label: path }, { additionalProperties: false })

export const OperationShape = t.Object(
  {
    label: t.String({ minLength: 1, maxLength: 200 }),
    description: t.Optional(text(2_000)),
    method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: t.String({ maxLength: 2_000 }),
    parameters: t.Optional(t.Unknown()),
    body: t.Optional(oneOf(['json', 'form', 'multipart', 'raw'])),
    bodyTemplate: t.Optional(t.Unknown()),
    headers: t.Optional(recordOf(text(2_000))),
    result: t.Optional(path),
    /** The JSON Schema of the result. */
    output: t.Optional(t.Unknown()),
    pagination: t.Optional(Pagination),
    expect: t.Optional(t.Array(t.Integer({ minimum: 100, maximum: 599 }), { maxItems: 100 })),
    error: t.Optional(ErrorRule),
    choices: t.Optional(recordOf(Choices)),
    /** Parameters of an example call. */
    example: t.Optional(t.Unknown()),
    documentation: t.Optional(text(2_000)),
  },
  { additionalProperties: false },
)

export const CredentialOfferShape = t.Object(
  {
    kind: oneOf(credentialKindNames),
    label: t.Optional(text(200)),
    hosts: t.Optional(t.Array(text(300), { maxItems: 50 })),
    /** Values that the form of a new credential has at first. */
    fields: t.Optional(t.Record(t.String(), t.Unknown())),
    note: t.Optional(text(1_000)),
  },
  { additionalProperties: false },
)

export const ConnectorShape = t.Object(
  {
    id: t.String({ pattern: connectorId.source, expected: '1 to 64 lower-case letters, digits and -' }),
    name: t.String({ minLength: 1, maxLength: 200 }),
    description: t.Optional(text(2_000)),
    baseUrl: t.String({ minLength: 1, maxLength: 2_000 }),
    documentation: t.Optional(text(2_000)),
    checked: t.Optional(text(500)),
    credentials: t.Optional(t.Array(CredentialOfferShape, { maxItems: 20 })),
    operations: recordOf(OperationShape),
  },
  { additionalProperties: false },
)
