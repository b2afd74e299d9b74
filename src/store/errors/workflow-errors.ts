import { AppError } from '../../domain/errors.ts'
import { subscriptionsMax } from '../../domain/webhook/subscription.ts'
import { pinsBytesMax } from '../../domain/workflow/pin.ts'
import type { Address, AddressKind } from '../../domain/workflow/trigger.ts'

// Why a store refuses a change to a workflow.

export function workflowNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no workflow ${id}`)
}

export function workspaceNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no workspace ${id}`)
}

export function deletedWorkflowNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no deleted workflow ${id}`)
}

export function nameTaken(name: string): AppError {
  return new AppError('CONFLICT', `The workspace already has a workflow named "${name}". Choose another name.`)
}

/** The last save of a workflow. `email`: of the account that saved it; null when it is not known. */
export type LastSave = { revision: number; at: number; email: string | null }

/** Prevents two people who edit the same document from overwriting each other's changes without noticing. */
export function savedSince(expected: number, { revision, at, email }: LastSave): AppError {
  const by = email === null ? '' : ` by ${email}`
  const message =
    `The workflow was saved${by} at ${new Date(at).toISOString()}, after revision ${expected}, which this change is ` +
    `based on. Load revision ${revision} and repeat the change.`
  return new AppError('CONFLICT', message, { details: [{ path: 'revision', message }] })
}

/** The same for the tests of a workflow. */
export function testsSavedSince(expected: number, { revision, at, email }: LastSave): AppError {
  const by = email === null ? '' : ` by ${email}`
  const message =
    `The tests of the workflow were saved${by} at ${new Date(at).toISOString()}, after revision ${expected}, which ` +
    `this change is based on. Load revision ${revision} and repeat the change.`
  return new AppError('CONFLICT', message, { details: [{ path: 'revision', message }] })
}

/** The caller may not know the owner of the address. */
export function addressTaken({ kind, name }: Address): AppError {
  return new AppError('CONFLICT', takenMessages[kind](name))
}

export function subscriptionTaken(id: string): AppError {
  return new AppError(
    'CONFLICT',
    `The workflow already has a webhook subscription with the ID "${id}". Choose another ID.`,
  )
}

export function subscriptionNotFound(): AppError {
  return new AppError('NOT_FOUND', 'The workflow has no webhook subscription with this ID.')
}

export function tooManySubscriptions(): AppError {
  return new AppError(
    'INVALID_INPUT',
    `A workflow can have at most ${subscriptionsMax} webhook subscriptions. Delete one first.`,
  )
}

export function pinsTooLarge(): AppError {
  const message = `The pinned outputs of a workflow may have at most ${pinsBytesMax} bytes as JSON in all. Unpin others.`
  return new AppError('PAYLOAD_TOO_LARGE', message)
}

const takenMessages: Record<AddressKind, (name: string) => string> = {
  webhook: (name) =>
    `The webhook path "${name}" belongs to another deployed workflow. Choose another path, or remove it from ` +
    'the block to get a random one.',
  chat: (name) => `The chat identifier "${name}" belongs to another deployed workflow. Choose another one.`,
  form: (name) =>
    `The form path "${name}" belongs to another deployed workflow. Choose another path, or remove it from the block to ` +
    'get a random one.',
}
