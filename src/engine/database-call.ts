import type { DatabaseCaller, Databases } from '../domain/database/database.ts'
import type { BlockContext } from './block.ts'
import { RunHeldMemory } from './run/held-memory.ts'
import type { Run } from './run/run.ts'

/** Asks a database for a block, and counts the reply for the run while it arrives. */
export async function askDatabase<Result>(
  run: Run,
  { block, signal }: Pick<BlockContext, 'block' | 'signal'>,
  ask: (databases: Databases, caller: DatabaseCaller) => Promise<Result>,
): Promise<Result> {
  const { databases } = run.capabilities
  if (!databases) throw new Error('This service has no clients for databases')
  const memory = new RunHeldMemory(run)
  const { workspaceId } = run.facts
  try {
    return await ask(databases, { workspaceId, environment: run.environment, blockName: block.name, signal, memory })
  } finally {
    memory.end()
  }
}
