import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { allExecutions, deploy, init, keepCalling, serve } from '../support/running-service.ts'

export type CrashReport = {
  rounds: number
  acknowledged: number
  /** Acknowledged runs that are not in the log. Must be empty. */
  missing: string[]
  /** The distinct results of `PRAGMA integrity_check`. */
  integrity: string[]
  /** The time from exec until the service listens, after each kill. */
  startedInMs: number[]
}

const workflow = document({
  name: 'Crash test',
  blocks: [
    block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
    block('if', 'condition', { conditions: [{ id: 'odd', expression: '<api.n> % 2 === 1' }] }),
    block('f', 'function', { code: 'return { n: <api.n>, text: "x".repeat(<api.n> % 500) }' }),
  ],
  edges: ['start > if', 'if:condition-odd > f'],
})

/**
 * Kills the service with -9 at random moments under load, starts it again, and looks for every run that was
 * acknowledged before. `random` gives 0 ≤ n < 1.
 */
export async function crash(options: {
  rounds: number
  connections: number
  random(): number
  progress?(round: number, acknowledged: number): void
}): Promise<CrashReport> {
  const { rounds, connections, random, progress } = options
  using folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  const acknowledged = new Set<string>()
  const seen = new Set<string>()
  const integrity = new Set<string>()
  const startedInMs: number[] = []
  let path = ''
  for (let round = 1; round <= rounds; round += 1) {
    const service = await serve(folder.path)
    if (round > 1) startedInMs.push(service.startedInMs)
    if (path === '') {
      path = new URL(await deploy(service.url, apiKey, workflow)).pathname
    }
    const before = acknowledged.size
    const callers = Array.from({ length: connections }, () => keepCalling(service.url + path, apiKey, acknowledged))
    while (acknowledged.size < before + 10) await Bun.sleep(1)
    await Bun.sleep(random() * 400)
    await service.kill('SIGKILL')
    await Promise.all(callers)
    integrity.add(integrityOf(folder.path))
    progress?.(round, acknowledged.size)
  }
  const service = await serve(folder.path)
  startedInMs.push(service.startedInMs)
  for await (const executionId of allExecutions(service.url, apiKey, workspaceId)) seen.add(executionId)
  await service.kill('SIGTERM')
  const missing = [...acknowledged].filter((executionId) => !seen.has(executionId))
  return { rounds, acknowledged: acknowledged.size, missing, integrity: [...integrity], startedInMs }
}

function integrityOf(folder: string): string {
  const database = new Database(join(folder, 'millrace.db'))
  try {
    return database
      .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
      .all()
      .map((row) => row.integrity_check)
      .join('; ')
  } finally {
    database.close()
  }
}
