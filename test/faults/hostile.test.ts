import { expect, test } from 'bun:test'
import { temporaryFolder } from '../support/executable.ts'
import { hostile } from './hostile/hostile.ts'

test('hostile requests neither stop the service nor make it send or keep much', async () => {
  using folder = temporaryFolder()
  let residentMb = Number.POSITIVE_INFINITY
  const reports = await hostile({
    ...{ data: `${folder.path}/data`, isShort: true, callers: 0, attackMs: 0 },
    async afterwards(measure) {
      const deadline = performance.now() + 60_000
      do {
        await Bun.sleep(100)
        residentMb = measure()
      } while (residentMb >= 600 && performance.now() < deadline)
    },
  })
  expect(reports.length).toBeGreaterThan(50)
  const faults = reports.filter(({ name, statuses, largestResponse, healthMs, noiseMs, memoryMb }) => {
    const codes = Object.keys(statuses).map(Number)
    const isRefused = codes.every((status) => status >= 400)
    return (
      codes.includes(0) ||
      // Elsewhere, 500 is the status of a run that failed.
      (/^(pause|v2|version 2|Sim |mcp |oauth )/.test(name) && codes.includes(500)) ||
      // These attacks took between two seconds and forever. The bound is wide, because this is no benchmark.
      healthMs - noiseMs > 2_000 ||
      (isRefused && largestResponse > 64_000) ||
      memoryMb.peak - memoryMb.before > 600
    )
  })
  expect(faults).toEqual([])
  // The memory comes back down.
  expect(residentMb).toBeLessThan(600)
}, 240_000)
