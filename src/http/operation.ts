import { Kind, type TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import type { ErrorCode } from '../domain/errors.ts'

export type OperationTexts = {
  /** What generated clients call it, `listWorkflows` say; also where `route-examples.ts` has its examples. */
  name: string
  summary: string
  description?: string
  tag: Tag
  /** Errors that this route can answer with, beside those that every route of its kind can. */
  errors?: readonly ErrorCode[]
  /** Who may call: holders of a key, the same under the external API's rate limit, or everyone. */
  access?: 'key' | 'external' | 'everyone'
}

/** The groups of the OpenAPI document, in its order. */
export const tags = {
  Executions: 'Running workflows, and what became of runs.',
  Logs: 'The external API: what ran, when, with what result.',
  Workflows: 'Workflow documents.',
  Deployments: 'Versions of workflows; the active one runs.',
  Environment: 'Variables that workflows read, encrypted where they are stored.',
  Account: 'Limits, workspaces and folders.',
  Operations: 'Whether the service is well, and a route to try things with.',
} as const
export type Tag = keyof typeof tags

/** The OpenAPI extension that `repairOpenApi` turns into the answers it names. */
export const errorsMember = 'x-errors'

/** A route's part of the OpenAPI document. */
export function operation(texts: OperationTexts): DocumentDecoration {
  const { name, summary, description, tag, errors = [], access = 'key' } = texts
  const codes = new Set<ErrorCode>([...commonErrors[access], ...errors])
  return {
    operationId: name,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: access === 'everyone' ? [] : [{ apiKey: [] }],
    [errorsMember]: [...codes],
  } as DocumentDecoration
}

const everyone: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'INTERNAL']
const key: readonly ErrorCode[] = [
  ...everyone,
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'OVERLOADED',
  'STORAGE_UNAVAILABLE',
]
const commonErrors: Record<NonNullable<OperationTexts['access']>, readonly ErrorCode[]> = {
  everyone,
  key,
  external: [...key, 'RATE_LIMIT_EXCEEDED'],
}

/**
 * A shape for the OpenAPI document and the client's types that Elysia does not check: what a handler reads itself (a
 * body, a query), because Elysia's messages are not for people and it would read a body before anyone was asked for a
 * key; and answers. The kind is replaced because Elysia compiles the schema even so, and cannot compile every kind.
 */
export function documented<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, [Kind]: 'Any', noValidate: true }
}
