import { type Static, Type as t } from '@sinclair/typebox'
import { credentialKindNames } from '../credential/kinds.ts'
import { oneOf } from '../one-of.ts'
import { Pagination } from '../pagination/pagination.ts'

/** The limits of a connector that a workspace adds. */
export const connectorBounds = Object.freeze({
  /** UTF-8 bytes of the document as JSON. */
  bytesMax: 1_048_576,
  operationsMax: 1_000,
  parametersMax: 200,
  /** Levels of a parameter's schema. */
  depthMax: 12,
  perWorkspaceMax: 200,
  workspaceBytesMax: 16_777_216,
})

export const connectorId = /^[a-z0-9][a-z0-9-]{0,63}$/
export const operationId = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/

/** Where a request carries a parameter. */
export const parameterPlaces = ['path', 'query', 'header', 'body'] as const
export type ParameterPlace = (typeof parameterPlaces)[number]

/** How a parameter's value is written before it is sent. `rfc822`: a mail, as base64url. */
export const parameterEncodings = ['base64', 'base64url', 'rfc822'] as const

/**
 * The JSON Schema of a parameter, or of a part of one. `join`: the text between the entries of a list that is sent as
 * one text. `const`: a value that the operation always sends, and that authors do not see.
 */
export type ValueSchema = {
  type?: string
  title?: string
  description?: string
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  examples?: readonly unknown[]
  format?: string
  items?: ValueSchema
  properties?: Readonly<Record<string, ValueSchema>>
  required?: readonly string[]
  additionalProperties?: boolean | ValueSchema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  in?: ParameterPlace
  encode?: (typeof parameterEncodings)[number]
  join?: string
  /** The name in the request, when it differs from the parameter's. */
  name?: string
}
export type ParametersSchema = ValueSchema & { properties: Readonly<Record<string, ValueSchema>> }

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

const OperationShape = t.Object(
  {
    label: t.String({ minLength: 1, maxLength: 200 }),
    description: t.Optional(text(2_000)),
    method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: t.String({ maxLength: 2_000 }),
    parameters: t.Optional(t.Unknown()),
    body: t.Optional(oneOf(['json', 'form', 'multipart', 'raw'])),
    bodyTemplate: t.Optional(t.Unknown()),
    headers: t.Optional(t.Record(t.String(), text(2_000))),
    result: t.Optional(path),
    /** The JSON Schema of the result. */
    output: t.Optional(t.Unknown()),
    pagination: t.Optional(Pagination),
    expect: t.Optional(t.Array(t.Integer({ minimum: 100, maximum: 599 }), { maxItems: 100 })),
    error: t.Optional(ErrorRule),
    choices: t.Optional(t.Record(t.String(), Choices)),
    /** Parameters of an example call. */
    example: t.Optional(t.Unknown()),
    documentation: t.Optional(text(2_000)),
  },
  { additionalProperties: false },
)
export type Operation = Omit<Static<typeof OperationShape>, 'parameters'> & { parameters?: ParametersSchema }

const CredentialOffer = t.Object(
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
export type CredentialOffer = Static<typeof CredentialOffer>

export const ConnectorShape = t.Object(
  {
    id: t.String({ pattern: connectorId.source, expected: '1 to 64 lower-case letters, digits and -' }),
    name: t.String({ minLength: 1, maxLength: 200 }),
    description: t.Optional(text(2_000)),
    baseUrl: t.String({ minLength: 1, maxLength: 2_000 }),
    documentation: t.Optional(text(2_000)),
    checked: t.Optional(text(500)),
    credentials: t.Optional(t.Array(CredentialOffer, { maxItems: 20 })),
    operations: t.Record(t.String(), OperationShape),
  },
  { additionalProperties: false },
)

/** A service and its operations, as data. */
export type Connector = Omit<Static<typeof ConnectorShape>, 'operations'> & {
  operations: Readonly<Record<string, Operation>>
}

/** Where a parameter goes when its schema does not say. */
export function placeOf(name: string, schema: ValueSchema, { method, path: template }: Operation): ParameterPlace {
  if (schema.in) return schema.in
  if (template.includes(`{${name}}`)) return 'path'
  return method === 'GET' || method === 'DELETE' ? 'query' : 'body'
}

/** The parameters that authors set: all but the constant ones. */
export function ownParameters({ parameters }: Pick<Operation, 'parameters'>): [string, ValueSchema][] {
  return Object.entries(parameters?.properties ?? {}).filter(([, schema]) => schema.const === undefined)
}

/** The operation of this id, if the connector has one. */
export function operationOf(connector: Connector, id: string): Operation | undefined {
  return Object.hasOwn(connector.operations, id) ? connector.operations[id] : undefined
}
