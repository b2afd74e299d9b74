import { expect, test } from 'bun:test'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import { traceIdOf } from '../../../../src/domain/trace-context.ts'
import { samplerOf } from '../../../../src/telemetry/otlp/sampler.ts'

const never = () => {
  throw new Error('A valid value was reported')
}
const parent = (sampled: boolean) => ({ traceId: 'a'.repeat(32), parentId: 'b'.repeat(16), sampled })

test('a ratio of one percent samples about one run of a hundred', () => {
  const sampler = samplerOf('traceidratio', '0.01', never)
  const runs = 100_000
  let sampled = 0
  for (let run = 0; run < runs; run++) if (sampler(traceIdOf(newExecutionId()), undefined)) sampled += 1
  // Seven standard deviations.
  expect(Math.abs(sampled - runs / 100)).toBeLessThan(7 * Math.sqrt(runs * 0.01 * 0.99))
})

test('the decision depends on the 56 random bits of the trace ID, as in other services', () => {
  const half = samplerOf('traceidratio', '0.5', never)
  const id = (random: string) => `${'0'.repeat(18)}${random}`
  expect(half(id('80000000000000'), undefined)).toBeTrue()
  expect(half(id('7fffffffffffff'), undefined)).toBeFalse()
  expect(samplerOf('traceidratio', '1', never)(id('00000000000000'), undefined)).toBeTrue()
  expect(samplerOf('traceidratio', '0', never)(id('ffffffffffffff'), undefined)).toBeFalse()
})

test.each([
  ['always_on', true, true, true],
  ['always_off', false, false, false],
  ['parentbased_always_on', true, true, false],
  ['parentbased_always_off', false, true, false],
  ['parentbased_traceidratio', true, true, false],
])('%s: without a caller, with a sampled one, with one that is not', (name, alone, below, belowUnsampled) => {
  const sampler = samplerOf(name, undefined, never)
  const id = 'c'.repeat(32)
  expect([sampler(id, undefined), sampler(id, parent(true)), sampler(id, parent(false))]).toEqual([
    alone,
    below,
    belowUnsampled,
  ])
})
