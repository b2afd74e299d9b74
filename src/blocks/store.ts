import { Type as t } from '@sinclair/typebox'
import { entryBounds, entryScopes } from '../domain/entry/entry.ts'
import { oneOf } from '../domain/one-of.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { BlockError, defineBlock, type ParameterFinding } from '../engine/block.ts'
import {
  operate,
  type StoreOperation,
  storeOperationLabels,
  storeOperations,
  storeScopeLabels,
} from './store/operate.ts'

const Parameters = t.Object({
  operation: oneOf(storeOperations, {
    title: 'Operation',
    labels: storeOperationLabels,
    default: 'get',
  }),
  key: t.Optional(
    t.String({
      title: 'Key',
      description: `Names the entry, such as seen/<start.id>. At most ${entryBounds.keyCharsMax} characters.`,
      when: whenDoing('get', 'set', 'delete', 'increment', 'compare_and_set', 'add_if_absent'),
    }),
  ),
  prefix: t.Optional(
    t.String({ title: 'Prefix', description: 'Lists the keys that begin with this text.', when: whenDoing('list') }),
  ),
  after: t.Optional(
    t.String({
      title: 'After',
      description: 'Lists the keys after this one: the last key of the previous list.',
      when: whenDoing('list'),
    }),
  ),
  limit: t.Optional(
    t.Integer({
      title: 'Limit',
      description: 'The most entries to list. 100 if empty.',
      ...{ minimum: 1, maximum: entryBounds.listMax },
      when: whenDoing('list'),
    }),
  ),
  value: t.Optional(
    t.Unknown({
      title: 'Value',
      description: 'Any value, up to 256 KB as JSON.',
      when: whenDoing('set', 'compare_and_set', 'add_if_absent'),
    }),
  ),
  expected: t.Optional(
    t.Unknown({
      title: 'Expected value',
      description: 'The entry is set only if it has this value. Empty or null: only if there is none.',
      when: whenDoing('compare_and_set'),
    }),
  ),
  by: t.Optional(
    t.Number({
      title: 'By',
      description: 'The number to add to the value, which is 0 at first. 1 if empty; may be negative.',
      when: whenDoing('increment'),
    }),
  ),
  ttlMs: t.Optional(
    t.Integer({
      title: 'Time to live',
      description:
        'Milliseconds until the entry expires. Empty: it stays. An increment counts them from the first one.',
      ...{ minimum: 1, maximum: entryBounds.ttlMsMax },
      when: whenDoing('set', 'increment', 'compare_and_set', 'add_if_absent'),
    }),
  ),
  scope: oneOf(entryScopes, {
    title: 'Scope',
    description: 'The workflows that share the entry.',
    labels: storeScopeLabels,
    default: 'workflow',
  }),
  timeoutMs: t.Integer({
    ...{ default: 10_000, minimum: 1, maximum: 86_400_000 },
    title: 'Timeout',
    description: 'Time limit for the operation, in milliseconds.',
  }),
  onError: { ...OnError, default: 'stop' },
})

/** Keeps values between runs. A block that runs again after a crash does not make its change again. */
export const store = defineBlock({
  type: 'store',
  label: 'Store',
  description: 'Keeps values between runs: sets, reads, counts, compares and lists them by key.',
  kind: 'step',
  parameters: Parameters,
  modes: { operation: 'literal', scope: 'literal' },
  outputs: ['value', 'found', 'changed', 'items', 'error'],
  mayFail: true,
  check: (_params, _facts, written) => missingIn(written),
  async run({ onError: _, ...call }, context) {
    try {
      return { outputs: { ...(await operate(call, context)), error: null } }
    } catch (thrown) {
      if (!(thrown instanceof BlockError)) throw thrown
      const error = { code: thrown.code, message: thrown.message }
      return { outputs: { value: null, found: null, changed: null, items: null, error }, error }
    }
  },
})

function missingIn(written: Readonly<Record<string, unknown>>): ParameterFinding[] {
  const { operation = 'get', key, value } = written as { operation?: unknown; key?: unknown; value?: unknown }
  const missing = (path: string, message: string): ParameterFinding => {
    return { level: 'error', code: 'MISSING_PARAMETER', path, message }
  }
  const needsValue = operation === 'set' || operation === 'compare_and_set' || operation === 'add_if_absent'
  return [
    ...(operation !== 'list' && (key === undefined || key === '')
      ? [missing('key', 'Set the key of the entry, such as last-run.')]
      : []),
    ...(needsValue && value === undefined ? [missing('value', 'Set the value of the entry.')] : []),
  ]
}

/** The form shows the parameter only for these operations. */
function whenDoing(...operations: StoreOperation[]) {
  return { parameter: 'operation', has: operations }
}
