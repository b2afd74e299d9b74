import { Type as t } from '@sinclair/typebox'
import { sleep } from '../domain/clock.ts'
import { defineBlock } from '../engine/block.ts'

export const wait = defineBlock({
  type: 'wait',
  label: 'Wait',
  description: 'Pauses the run.',
  kind: 'step',
  parameters: t.Object({ ms: t.Number({ title: 'Milliseconds', minimum: 0 }) }),
  outputs: ['waitedMs'],
  mayFail: true,
  check({ ms }, { limits: { runTimeoutMs } }) {
    if (typeof ms !== 'number' || ms <= runTimeoutMs) return []
    const message = `A wait of ${ms} ms is longer than a run may take (${runTimeoutMs} ms, MILLRACE_RUN_TIMEOUT_MS).`
    return [{ level: 'warning', code: 'LONGER_THAN_RUN', path: 'ms', message }]
  },
  async run({ ms }, { clock, signal }) {
    const from = clock.monotonic()
    await sleep(clock, ms, signal)
    return { outputs: { waitedMs: Math.round(clock.monotonic() - from) } }
  },
})
