import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/domain/clock.ts'
import { newId } from '../../src/domain/ids.ts'
import { Entries } from '../../src/entries/entries.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { install } from '../../test/support/store/installed.ts'
import { PostgresServer } from '../../test/support/store/postgres.ts'
import { median } from '../support/service.ts'

/**
 * How many operations of the block `store` are durable each second? `bun bench/micro/store-block.ts [sqlite|postgres]
 * [callers 32] [ms 3000] [rounds 5]` asks as the block does: each caller waits for its change before it makes the next
 * one. Every change is flushed to disk. It measures increments of one key, increments of a key per caller, changes that
 * must not be made twice, and reads.
 */
const [kind = 'sqlite'] = process.argv.slice(2)
const [callers = 32, ms = 3_000, rounds = 5] = process.argv.slice(3).map(Number)

await using server = kind === 'postgres' ? await PostgresServer.start({ isDurable: true }) : undefined
const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const store = await open()
try {
  const { workspaceId, workflowId } = await install(store)
  const entries = new Entries({ store, clock: systemClock, bytesMax: 1_000_000_000, onFailure: console.error })
  const scope = { workspaceId, workflowId }
  const change = { type: 'increment', by: 1, expiresAt: null } as const
  const cases: Record<string, (caller: number) => Promise<unknown>> = {
    'increments of one key': () => entries.change({ ...scope, key: 'hot', change, now: Date.now() }),
    'increments of a key per caller': (caller) =>
      entries.change({ ...scope, key: `key-${caller}`, change, now: Date.now() }),
    'changes that are made once': (caller) =>
      entries.change({
        ...{ ...scope, key: `key-${caller}`, change, now: Date.now() },
        once: { executionId: `run-${caller}`, operation: newId() },
      }),
    reads: (caller) => entries.read({ ...scope, key: `key-${caller}`, now: Date.now() }),
  }
  console.log(`${kind}, ${callers} callers, load ${loadavg()[0]!.toFixed(1)}`)
  for (const [name, ask] of Object.entries(cases)) {
    const rates: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      const rate = await perSecond(ask)
      // The first round warms up.
      if (round > 0) rates.push(rate)
    }
    console.log(`${name.padEnd(32)} ${median(rates).toFixed(0)} a second`)
  }
  await entries.stop()
} finally {
  await store.close()
  rmSync(directory, { recursive: true })
}

async function perSecond(ask: (caller: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  let done = 0
  const call = async (caller: number) => {
    while (performance.now() - startedAt < ms) {
      await ask(caller)
      done += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  return (done / (performance.now() - startedAt)) * 1_000
}

async function open(): Promise<Store> {
  if (!server) return await openSqliteStore({ directory, sync: 'full', mode: 'workers' })
  return await openPostgresStore({ url: await server.createDatabase() })
}
