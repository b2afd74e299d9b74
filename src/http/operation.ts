import { Kind, type TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import type { ErrorCode } from '../domain/errors.ts'

export type OperationTexts = {
  /** What generated clients call it, `listWorkflows` say; also where `route-examples.ts` has its examples. */
  name: string
  summary: string
  description?: string
  tag: Tag
  /** Errors that this route can response with, beside those that every route of its kind can. */
  errors?: readonly ErrorCode[]
  /**
   * Who may call: holders of a key and people who are signed in; holders of a key alone, under a rate limit; only people
   * who are signed in; or everyone.
   */
  access?: 'key' | 'external' | 'session' | 'everyone'
}

/** The groups of the OpenAPI document, in its order. */
export const tags = {
  Executions: 'Running workflows, and what became of runs.',
  Logs: 'The external API: what ran, when, with what result.',
  Workflows: 'Workflow documents.',
  Deployments: 'Versions of workflows; the active one runs.',
  Webhooks: 'What was sent to webhooks when runs ended, and sending it again.',
  Environment: 'Variables that workflows read, encrypted where they are stored.',
  Account: 'Limits, workspaces and folders; signing in to the dashboard.',
  Editor: 'What the dashboard needs alone. It changes with the dashboard, so it is not in the public document.',
  Operations: 'Whether the service is well, and a route to try things with.',
} as const
export type Tag = keyof typeof tags

/** The OpenAPI extension that `repairOpenApi` turns into the responses it names. */
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
    security: securities[access],
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
type Access = NonNullable<OperationTexts['access']>
const commonErrors: Record<Access, readonly ErrorCode[]> = {
  everyone,
  // FORBIDDEN: a change by a session that came from a page of another origin.
  key: [...key, 'SIGN_IN_REQUIRED', 'FORBIDDEN'],
  external: [...key, 'RATE_LIMIT_EXCEEDED'],
  session: [...everyone, 'SIGN_IN_REQUIRED', 'FORBIDDEN', 'OVERLOADED', 'STORAGE_UNAVAILABLE'],
}

const securities: Record<Access, Record<string, string[]>[]> = {
  everyone: [],
  key: [{ apiKey: [] }, { session: [] }],
  external: [{ apiKey: [] }],
  session: [{ session: [] }],
}

/**
 * A shape for the OpenAPI document and the client's types that Elysia does not check: what a handler reads itself (a
 * body, a query), because Elysia's messages are not for people and it would read a body before anyone was asked for a
 * key; and responses. The kind is replaced because Elysia compiles the schema even so, and cannot compile every kind.
 */
export function documented<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, [Kind]: 'Any', noValidate: true }
}
