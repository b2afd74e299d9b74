import { expect, test } from 'bun:test'
import type { StartLimits } from '../../../../src/engine/compile/start-limits.ts'
import { LimitedExecution } from '../../../../src/engine/limits/limited-execution.ts'
import type { Starts } from '../../../../src/engine/limits/start-limiter.ts'
import type { RunRequest } from '../../../../src/engine/run/run-request.ts'
import { ManualClock } from '../../../support/clock.ts'

test('a caller that is sent away gives back the slot that it got at the same moment', async () => {
  const released: string[] = []
  const slot = { isReplaced: false, begin: () => undefined, release: () => void released.push('slot') }
  const admit: Starts['admit'] = (_start, _limits, granted) => {
    granted(slot)
    return { slot: undefined, leave: () => undefined }
  }
  const execution = new LimitedExecution({
    limiter: { admit } as Starts,
    clock: new ManualClock(),
    execute: () => Promise.reject(new Error('It must not run')),
    timeoutMs: 1_000,
    waitingMax: 0,
    shareFactor: 4,
  })
  const plan = { startLimits: { concurrency: 1 } as StartLimits, limits: {} }
  const request = { workspaceId: 'a', workflowId: 'w', plan, trigger: 'api' } as RunRequest
  await expect(execution.execute(request)).rejects.toMatchObject({ code: 'OVERLOADED' })
  expect(released).toEqual(['slot'])
})
