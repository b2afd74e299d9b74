import { writeSync } from 'node:fs'
import { systemClock } from '../../../src/domain/clock.ts'
import { LogSequence, newExecutionId } from '../../../src/domain/ids.ts'
import { LogWriter } from '../../../src/events/writer.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { runRecord } from '../events/run-record.ts'
import { install } from './installed.ts'

/**
 * A process that records a number of runs, several at a time, for tests that kill it or make its disk fail. Prints a
 * line when a run is acknowledged (`+id`) or refused (`-id code`), and when the health of its writer changes (`!true`,
 * `!false`), before it does anything else.
 */
const [directory = '', mode = 'workers', wanted = '0', atOnce = '8', chars = '0', manner = ''] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

const store = await openSqliteStore({ directory, sync: 'full', mode: mode === 'direct' ? 'direct' : 'workers' })
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

/** An output of `chars` characters that cannot be compressed. */
const noise = () =>
  chars === '0' ? {} : { output: crypto.getRandomValues(new Uint8Array(Number(chars) * 0.75)).toBase64() }

let left = Number(wanted)
async function record(): Promise<void> {
  const executionId = newExecutionId()
  try {
    await writer.append(runRecord({ executionId, workflowId, workspaceId, ...noise() }))
    left -= 1
    say(`+${executionId}`)
  } catch (error) {
    say(`-${executionId} ${(error as { code?: string }).code ?? error}`)
    await Bun.sleep(5)
  }
}

async function recordAll(): Promise<void> {
  while (left > 0) await record()
}

const together = () => Array.from({ length: Number(atOnce) }, record)

/** Appends one by one for a while, then all at once for a while, so that groups have all sizes. */
async function recordUnevenly(): Promise<void> {
  while (left > 0) {
    for (let alone = Math.random() * 150; alone > 0; alone -= 1) await record()
    for (let crowds = Math.random() * 4; crowds > 0; crowds -= 1) await Promise.all(together())
  }
}

say('ready')
await (manner === 'uneven' ? recordUnevenly() : Promise.all(Array.from({ length: Number(atOnce) }, recordAll)))
await writer.stop()
await store.close()
