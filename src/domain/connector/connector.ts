import type { Static } from '@sinclair/typebox'
import type { ConnectorShape, CredentialOfferShape, OperationShape } from './connector-shape.ts'

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

export type Operation = Omit<Static<typeof OperationShape>, 'parameters' | 'output'> & {
  parameters?: ParametersSchema
  /** The shape of the result. Nothing checks a result against it: the editor shows results and references by it. */
  output?: ValueSchema
}

/** A kind of credential that fits a service. */
export type CredentialOffer = Static<typeof CredentialOfferShape>

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
