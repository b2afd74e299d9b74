import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { EndedAttempt } from '../../src/domain/delivery.ts'
import type { NewJob } from '../../src/domain/job.ts'
import type { LogRow } from '../../src/domain/log.ts'
import type { Write } from '../../src/domain/write.ts'
import { ChunkWalk, chunksOf, chunkText, chunkValues, readChunk } from '../../src/store/sqlite/chunk.ts'
import { decodeAttempts, decodeGroup, encodeAttempts, encodeGroup } from '../../src/store/sqlite/group.ts'

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
  fc.tuple(facts, webhooks).map(([each, owed]): LogRow => ({ ...each, webhooks: owed })),
  fc.tuple(facts, files).map(([each, held]): LogRow => ({ ...each, files: held })),
)

const bytes = fc.uint8Array({ maxLength: 300 })
const job: fc.Arbitrary<NewJob> = fc.record({
  executionId: text,
  workflowId: text,
  workspaceId: text,
  version: fc.nat(),
  trigger: fc.constantFrom('api', 'webhook', 'schedule', 'manual', 'chat'),
  createdAt: fc.maxSafeNat(),
  startedAt: fc.option(fc.maxSafeNat(), { nil: null }),
  input: bytes,
})
const attempt: fc.Arbitrary<EndedAttempt> = fc.record({
  delivery: fc.record({ sequence: fc.maxSafeNat(), subscription: fc.nat() }),
  attempt: fc.record({
    number: fc.nat(),
    startedAt: fc.maxSafeNat(),
    durationMs: fc.double({ min: 0, noNaN: true }),
    status: fc.option(fc.integer({ min: 200, max: 599 }), { nil: null }),
    failure: fc.option(fc.record({ code: fc.constantFrom('TIMEOUT', 'HTTP_ERROR'), message: text }), { nil: null }),
    answer: fc.option(text, { nil: null }),
  }),
  outcome: fc.oneof(
    fc.record({ state: fc.constant('pending' as const), dueAt: fc.maxSafeNat() }),
    fc.record({ state: fc.constantFrom('delivered', 'failed'), dueAt: fc.constant(null) }),
  ),
})
const state = fc.record({
  dueAt: fc.option(fc.maxSafeNat(), { nil: null }),
  waitingAt: fc.option(fc.maxSafeNat(), { nil: null }),
})
const step = fc.record({ workflowId: text, version: fc.nat(), from: state, to: state })
const requestClaim = fc.record({ kind: fc.constant('request' as const), key: text, at: fc.maxSafeNat() })
const claim = fc.oneof(requestClaim, fc.record({ kind: fc.constant('schedule' as const), step }))
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record(
    { kind: fc.constant('log' as const), row, output: fc.option(bytes, { nil: null }), claim: requestClaim },
    { requiredKeys: ['kind', 'row', 'output'] },
  ),
  fc.record({ kind: fc.constant('job' as const), row: job, claim }, { requiredKeys: ['kind', 'row'] }),
  fc.record({ kind: fc.constant('schedule' as const), step }),
  fc.record({ kind: fc.constant('job-start' as const), executionId: text, at: fc.maxSafeNat() }),
  fc.record({ kind: fc.constant('job-step' as const), executionId: text, number: fc.nat(), content: bytes }),
  fc.record({
    kind: fc.constant('chat' as const),
    workflowId: text,
    conversationId: text,
    at: fc.maxSafeNat(),
    kept: fc.nat(),
    content: bytes,
  }),
)

test('a group crosses to the thread as it is, whatever its texts hold', () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 20 }), (writes) =>
      expect(decodeGroup(encodeGroup(writes))).toEqual(writes),
    ),
  )
})

test('attempts that ended cross to the thread as they are', () => {
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 20 }), (attempts) =>
      expect(decodeAttempts(encodeAttempts(attempts))).toEqual(attempts),
    ),
  )
})

test('chunks give back every entry, cover ranges apart, and stay small unless one entry is large', () => {
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
