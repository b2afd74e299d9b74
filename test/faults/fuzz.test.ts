import { expect, test } from 'bun:test'
import '../support/built.ts'
import { fuzz } from './fuzz.ts'

/** For another sequence: `FUZZ_SEED=5 bun test ./test/faults/fuzz.test.ts`. */
const seed = Number(Bun.env['FUZZ_SEED'] ?? 18)

test('malformed and mutated requests over all routes are refused without a server error', async () => {
  const { statuses, ...report } = await fuzz({ requests: 50_000, seed })
  expect(report).toMatchObject({ serverErrors: [], accepted: [], crashed: false, memoryGrows: false })
  // The requests get past the first check: many are accepted, and many are refused for different reasons.
  for (const status of [200, 400, 401, 404, 405]) expect(statuses[status]).toBeGreaterThan(500)
}, 300_000)
