import {
  type EntryChange,
  type EntryOutcome,
  type EntryRow,
  type EntryScopeName,
  entryBounds,
  entryText,
  isPlainText,
  keyProblem,
} from '../../domain/entry/entry.ts'
import { AppError } from '../../domain/errors.ts'
import { type BlockContext, BlockError, type Outputs } from '../../engine/block.ts'

export const storeOperations = [
  'get',
  'set',
  'delete',
  'increment',
  'compare_and_set',
  'add_if_absent',
  'list',
] as const

export const storeOperationLabels = {
  get: 'Get',
  set: 'Set',
  delete: 'Delete',
  increment: 'Increment',
  compare_and_set: 'Set if it has the expected value',
  add_if_absent: 'Add if it is new',
  list: 'List',
}
export const storeScopeLabels = { workflow: 'This workflow', workspace: 'All workflows of the workspace' }
export type StoreOperation = (typeof storeOperations)[number]

/** Parameters of an operation, as documents and models write them. */
export type StoreCall = {
  operation: StoreOperation
  scope: EntryScopeName
  key?: string
  prefix?: string
  after?: string
  value?: unknown
  expected?: unknown
  by?: number
  ttlMs?: number
  limit?: number
  timeoutMs: number
}

/** Carries out an operation, and returns the outputs of the block. Throws `BlockError`. */
export async function operate(call: StoreCall, context: BlockContext): Promise<Outputs> {
  const { operation, scope, timeoutMs } = call
  if (operation === 'list') return await list(call, context)
  const key = keyOf(call)
  if (operation === 'get') {
    const row = await within(timeoutMs, context, context.entries.read(scope, key))
    return { value: row && JSON.parse(row.value), found: row !== null, changed: false, items: null }
  }
  const change = changeOf({ ...call, operation }, context)
  const outcome = await within(timeoutMs, context, context.entries.change(scope, key, change))
  if (!outcome.ok) throw new BlockError(outcome.code, outcome.message)
  return changed(outcome)
}

function changed({ value, found, changed }: Extract<EntryOutcome, { ok: true }>): Outputs {
  return { value: value === null ? null : JSON.parse(value), found, changed, items: null }
}

async function list(call: StoreCall, context: BlockContext): Promise<Outputs> {
  const { scope, prefix = '', after, limit = listDefault, timeoutMs } = call
  for (const [name, text] of Object.entries({ prefix, after: after ?? '' })) {
    if (!isPlainText(text) || text.length > entryBounds.keyCharsMax) {
      throw new BlockError('INVALID_KEY', `The ${name} ${keyProblem(text) ?? 'is not valid'}.`)
    }
  }
  const query = { prefix, after: after ?? null, limit, bytesMax: entryBounds.listBytesMax }
  const page = await within(timeoutMs, context, context.entries.list(scope, query))
  if (!page.isComplete && page.entries.length < limit) {
    const message =
      `The entries of this list have more than ${entryBounds.listBytesMax} bytes. Lower the limit to ` +
      `${page.entries.length}, and read the rest with "after".`
    throw new BlockError('VALUE_TOO_LARGE', message)
  }
  return { value: null, found: page.entries.length > 0, changed: false, items: page.entries.map(itemOf) }
}

function itemOf({ key, value, updatedAt, expiresAt }: EntryRow) {
  return {
    key,
    value: JSON.parse(value) as unknown,
    updatedAt: new Date(updatedAt).toISOString(),
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  }
}

function keyOf({ key, operation }: StoreCall): string {
  if (key === undefined) throw new BlockError('INVALID_KEY', `The operation ${operation} needs a key.`)
  const problem = keyProblem(key)
  if (problem) throw new BlockError('INVALID_KEY', `The key ${problem}.`)
  return key
}

function changeOf(
  call: StoreCall & { operation: Exclude<StoreOperation, 'get' | 'list'> },
  { clock }: BlockContext,
): EntryChange {
  const { operation, ttlMs, by = 1 } = call
  const expiresAt = ttlMs === undefined ? null : clock.now() + ttlMs
  if (operation === 'delete') return { type: 'delete' }
  if (operation === 'increment') return { type: 'increment', by, expiresAt }
  const value = textOf('value', call.value)
  if (operation !== 'compare_and_set') return { type: operation, value, expiresAt }
  return { type: operation, expected: textOf('expected value', call.expected), value, expiresAt }
}

function textOf(name: string, value: unknown): string {
  try {
    return entryText(value)
  } catch (error) {
    if (error instanceof RangeError) throw new BlockError('VALUE_TOO_LARGE', `The ${name} ${error.message}.`)
    throw error
  }
}

/** Rejects with a `BlockError` when the storage fails or does not answer in time. */
async function within<Result>(timeoutMs: number, { clock, signal }: BlockContext, work: Promise<Result>) {
  const over = Promise.withResolvers<never>()
  const message = `The store did not answer within ${timeoutMs} ms. A change may still take effect.`
  const timer = clock.setTimer(timeoutMs, () => over.reject(new BlockError('TIMEOUT', message)))
  const cancel = () => over.reject(signal.reason)
  signal.addEventListener('abort', cancel)
  try {
    return await Promise.race([work, over.promise])
  } catch (error) {
    if (error instanceof AppError) throw new BlockError(error.code, error.message, error)
    throw error
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', cancel)
  }
}

const listDefault = 100
