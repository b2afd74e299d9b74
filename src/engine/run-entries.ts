import type { EntryPower } from '../domain/entry/entry.ts'
import { type BlockEntries, BlockError } from './block.ts'
import type { Run } from './run/run.ts'

/**
 * Entries for a block, or for a part of one. `place`: of the block or the part in its run. A run that may continue
 * after a crash repeats the blocks that were not recorded, so their changes are remembered. A part of a block, such as
 * a tool of an agent, may do something else when it is repeated. Then its change is a new one.
 */
export function entriesOf(run: Run, place: string, isPart: boolean): BlockEntries {
  const { workspaceId, workflowId } = run.facts
  const { clock } = run.capabilities
  const scopeOf = (scope: 'workflow' | 'workspace') => {
    return { workspaceId, workflowId: scope === 'workflow' ? workflowId : null }
  }
  return {
    read: (scope, key) => powerOf(run).read({ ...scopeOf(scope), key, now: clock.now() }),
    list: (scope, query) => powerOf(run).list({ ...scopeOf(scope), ...query, now: clock.now() }),
    change: (scope, key, change) => {
      const { outermost } = run.budget
      const mayRepeat = run.history !== undefined || outermost?.history !== undefined
      const { expiresAt: _, ...what } = { expiresAt: null, ...change }
      const operation = hashed(isPart ? JSON.stringify([place, scope, key, what]) : place)
      const once = { executionId: outermost?.facts.executionId ?? run.facts.executionId, operation }
      const request = { ...scopeOf(scope), key, change, now: clock.now() }
      return powerOf(run).change(mayRepeat ? { ...request, once } : request)
    },
  }
}

function powerOf({ capabilities: { entries } }: Run): EntryPower {
  if (entries) return entries
  throw new BlockError('STORAGE_UNAVAILABLE', 'This run has no store for entries.')
}

function hashed(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 32)
}
