import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import { ChunkWalk, chunksOf, chunkText, chunkValues, readChunk } from '../../../../src/store/sqlite/logs/chunk.ts'

const text = fc.string({ unit: 'binary', maxLength: 2_000 })
const files = fc.record({ text, folder: fc.option(text, { nil: null }) })
const facts: fc.Arbitrary<LogRow> = fc.record({
  sequence: fc.maxSafeNat(),
  executionId: text,
  workflowId: text,
  workspaceId: text,
  version: fc.nat(),
  level: fc.constantFrom('info', 'error'),
  trigger: fc.constantFrom('api', 'webhook', 'schedule', 'manual', 'chat'),
  createdAt: fc.option(fc.maxSafeNat(), { nil: null }),
  startedAt: fc.maxSafeNat(),
  endedAt: fc.maxSafeNat(),
  durationMs: fc.double({ min: 0, noNaN: true }),
  costTotal: fc.double({ min: 0, noNaN: true }),
  models: fc.array(text, { maxLength: 3 }),
  cost: fc.option(text, { nil: null }),
  rawOutput: fc.constant(null),
  finalOutput: text,
  traceSpans: text,
})
const webhooks = fc.record({
  deliveries: fc.array(fc.record({ subscription: fc.nat(), include: fc.nat(15) }), { maxLength: 3 }),
  skipped: fc.array(fc.record({ subscription: fc.nat(), reason: fc.constantFrom('inactive', 'level', 'trigger') }), {
    maxLength: 3,
  }),
  facts: fc.option(text, { nil: null }),
})
const row = fc.oneof(
  facts,
  fc.tuple(facts, webhooks).map(([each, deliveries]): LogRow => ({ ...each, webhooks: deliveries })),
  fc.tuple(facts, files).map(([each, held]): LogRow => ({ ...each, files: held })),
)

test('chunks return every entry, cover disjoint ranges, and stay small unless one entry is large', () => {
  const wellFormed = (value: string) => value.toWellFormed()
  const size = fc.integer({ min: 0, max: 40_000 })
  fc.assert(
    fc.property(fc.array(fc.tuple(row, size), { minLength: 1, maxLength: 20 }), (drafts) => {
      const rows = drafts.map(([draft, length], index) => ({
        ...draft,
        sequence: 10 + index * 5,
        cost: draft.cost === null ? null : wellFormed(draft.cost),
        finalOutput: wellFormed(draft.finalOutput),
        traceSpans: 'x'.repeat(length),
      }))
      const chunks = chunksOf(
        rows,
        rows.map((_, index) => index + 1),
      )
      let last = 0
      for (const chunk of chunks) {
        expect(chunk.firstSequence).toBeGreaterThan(last)
        expect(chunk.lastSequence).toBeGreaterThanOrEqual(chunk.firstSequence)
        last = chunk.lastSequence
        const [, , encoding, content] = chunkValues(chunk)
        const back = chunkText({ encoding: encoding as number, content: content as string | Uint8Array })
        expect(back).toBe(chunk.text)
        expect(readChunk(back).get(chunk.firstSequence + 1)).toBeUndefined()
        for (const [index, { sequence, cost, finalOutput, traceSpans }] of rows.entries()) {
          const isInside = sequence >= chunk.firstSequence && sequence <= chunk.lastSequence
          const long = { workspace: index + 1, cost, finalOutput, traceSpans }
          expect(readChunk(back).get(sequence)).toEqual(isInside ? long : undefined)
        }
        const walk = new ChunkWalk(back)
        for (const { sequence } of rows) expect(walk.find(sequence)).toEqual(readChunk(back).get(sequence))
        expect(new ChunkWalk(back).find(chunk.lastSequence)).toEqual(readChunk(back).get(chunk.lastSequence))
        expect(new ChunkWalk(back).find(chunk.firstSequence + 1)).toBeUndefined()
        if (chunk.firstSequence !== chunk.lastSequence) expect(chunk.text.length).toBeLessThanOrEqual(32_768)
      }
    }),
    { numRuns: 50 },
  )
})
