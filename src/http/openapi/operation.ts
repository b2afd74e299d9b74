import { Kind, type TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import type { ErrorCode } from '../../domain/errors.ts'

export type OperationTexts = {
  /** The operation's name in generated clients, for example `listWorkflows`, and its key in `route-examples.ts`. */
  name: string
  summary: string
  description?: string
  tag: Tag
  /** Errors of this route in addition to those that every route of its access kind can return. */
  errors?: readonly ErrorCode[]
  /**
   * Who may call: a key or a session (`key`), a rate-limited key (`external`), a session (`session`), or everyone.
   */
  access?: 'key' | 'external' | 'session' | 'everyone'
  /** Whether the body is a form, and not JSON. */
  isForm?: boolean
  /** Whether callers may leave out the body. */
  isBodyOptional?: boolean
}

/** The groups of the OpenAPI document, in order. */
export const tags = {
  Executions: 'Run workflows, and get the outcome of runs.',
  Logs: 'The external API: log entries and execution details.',
  'API v2': "The routes that Sim's command line and newer clients use, in Sim's shapes.",
  Workflows: 'Workflow documents.',
  Deployments: 'Versions of workflows. The active version runs.',
  Webhooks: 'Webhook deliveries: what was sent when runs ended, and sending it again.',
  Connectors: 'Services that operation blocks call, described as data.',
  Alerts: 'Messages when runs fail, are slow, or do not happen, and when something else needs attention.',
  Credentials: 'What workflows sign in to other services with. Secrets are encrypted at rest.',
  Store: 'Values that workflows keep between their runs.',
  Environment: 'Variables that workflows read. They are encrypted at rest.',
  MCP: 'Signing in MCP clients. See the page about MCP.',
  Account: 'Limits, workspaces and folders; signing in to the dashboard.',
  Editor: 'Used by the dashboard only. It changes with the dashboard, so the public document does not contain it.',
  Operations: 'Health and metrics, and a route to try requests with.',
} as const
export type Tag = keyof typeof tags

/** The OpenAPI extension that `repairOpenApi` turns into the responses it names. */
export const errorsMember = 'x-errors'

/** The OpenAPI extension that tells `repairOpenApi` that a body is optional. */
export const optionalBodyMember = 'x-optional-body'

/** The OpenAPI extension that tells `repairOpenApi` that a body is a form. */
export const formBodyMember = 'x-form-body'

/** A route's part of the OpenAPI document. */
export function operation(texts: OperationTexts): DocumentDecoration {
  const { name, summary, description, tag, errors = [], access = 'key', isBodyOptional = false, isForm = false } = texts
  const codes = new Set<ErrorCode>([...commonErrors[access], ...errors])
  return {
    operationId: name,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: securities[access],
    [errorsMember]: [...codes],
    ...(isForm ? { [formBodyMember]: true } : {}),
    ...(isBodyOptional ? { [optionalBodyMember]: true } : {}),
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
  // FORBIDDEN: a change with a session, sent by a page of another origin.
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
 * A schema for the OpenAPI document and the client's types only; Elysia does not check it. Handlers check bodies and
 * queries themselves: Elysia's messages are not written for people, and it would read a body before the key is checked.
 * Responses are not checked either. The kind is replaced because Elysia compiles every schema and fails on some kinds.
 */
export function documented<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, [Kind]: 'Any', noValidate: true }
}
