import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ByteGate } from '../../../src/domain/byte-gate.ts'

test('work enters in order, the sum stays below the limit, and all of it is done', async () => {
  const pieces = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 150 }), turns: fc.nat(3) }), { maxLength: 50 })
  await fc.assert(
    fc.asyncProperty(pieces, async (all) => {
      const gate = new ByteGate(100)
      const entered: number[] = []
      let inside = 0
      let bytesInside = 0
      await Promise.all(
        all.map(({ bytes, turns }, index) =>
          gate.run(bytes, async () => {
            entered.push(index)
            inside += 1
            bytesInside += bytes
            expect(inside === 1 || bytesInside <= 100).toBe(true)
            for (let left = turns; left > 0; left -= 1) await undefined
            inside -= 1
            bytesInside -= bytes
          }),
        ),
      )
      expect(entered).toEqual(all.map((_, index) => index))
    }),
  )
})

test('work that fails makes room for the next one', async () => {
  const gate = new ByteGate(10)
  const failing = gate.run(10, () => Promise.reject(new Error('no')))
  const next = gate.run(10, async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})
