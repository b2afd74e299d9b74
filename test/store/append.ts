import { Database } from 'bun:sqlite'
import { writeSync } from 'node:fs'
import { systemClock } from '../../src/domain/clock.ts'
import { LogSequence, newExecutionId } from '../../src/domain/ids.ts'
import { LogWriter } from '../../src/events/writer.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { runRecord } from '../events/run-record.ts'
import { install } from './installed.ts'

/**
 * A process that records runs until it has recorded as many as it was told, several at a time, for tests that kill it or
 * make its disk fail. Prints a line when a run is acknowledged (`+id`) or refused (`-id code`), and when the health of
 * its writer changes (`!true`, `!false`), before it does anything else.
 */
const [directory = '', mode = 'workers', wanted = '0', atOnce = '8', chars = '0', manner = ''] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

// A disk that always seems fast, however slow it is: so both ways to it are gone.
let nowMs = 0
const monotonic = () => {
  nowMs += 0.5
  return nowMs
}
const store = await openSqliteStore({
  ...{ directory, sync: 'full', monotonic },
  mode: mode === 'direct' ? 'direct' : 'workers',
})
const home = (await store.isInitialised()) ? undefined : await install(store).catch(() => undefined)
const [key] = await store.listKeys()
const workspaceId = home?.workspaceId ?? Object.keys(key!.roles)[0]!
const workflowId = home?.workflowId ?? (await store.listWorkflows(workspaceId))[0]?.id ?? ''
const sequence = new LogSequence(Date.now, await store.lastSequence())
const writer = new LogWriter({
  store,
  clock: systemClock,
  sequence,
  rowsWaitingMax: 1_000,
  onHealth: (healthy) => say(`!${healthy}`),
})

/** An output that nothing compresses, of so many characters as were asked for. */
const noise = () =>
  chars === '0' ? {} : { output: crypto.getRandomValues(new Uint8Array(Number(chars) * 0.75)).toBase64() }

let left = Number(wanted)
async function record(): Promise<void> {
  const executionId = newExecutionId()
  try {
    await writer.append(runRecord({ executionId, workflowId, workspaceId, ...noise() }))
    left -= 1
    say(`+${executionId}`)
    // So that the writer's thread keeps up, and is sent no group, whose flush would cover what the journal had.
    if (manner === 'read') await Bun.sleep(5)
  } catch (error) {
    say(`-${executionId} ${(error as { code?: string }).code ?? error}`)
    await Bun.sleep(5)
  }
}

async function recordAll(): Promise<void> {
  while (left > 0) await record()
}

const together = () => Array.from({ length: Number(atOnce) }, record)

/** One after the other for a while, then all at once for a while. The journal takes some of the former, none of the latter. */
async function recordUnevenly(): Promise<void> {
  while (left > 0) {
    for (let alone = Math.random() * 150; alone > 0; alone -= 1) await record()
    for (let crowds = Math.random() * 4; crowds > 0; crowds -= 1) await Promise.all(together())
  }
}

/** As a backup does: the database takes in nothing that is written meanwhile, so nothing of it is flushed by the way. */
const reader = manner === 'read' ? new Database(databasePath(directory), { readonly: true }) : undefined
reader?.run('BEGIN')
reader?.query('SELECT count(*) FROM logs').get()
say('ready')
await (manner === 'uneven' ? recordUnevenly() : Promise.all(Array.from({ length: Number(atOnce) }, recordAll)))
await writer.stop()
reader?.close()
await store.close()
