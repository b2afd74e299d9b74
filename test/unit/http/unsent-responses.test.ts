import { expect, test } from 'bun:test'
import { RunMemory } from '../../../src/engine/run/run-memory.ts'
import { UnsentResponses } from '../../../src/http/streams/unsent-responses.ts'
import { ManualClock } from '../../support/clock.ts'

const large = 'é😀'.repeat(2_000_000)

function world() {
  const memory = new RunMemory({ bytesMax: 20_000_000, shareFactor: 4 })
  const clock = new ManualClock()
  return { memory, clock, unsent: new UnsentResponses({ memory, clock }) }
}

function iterator(body: BodyInit) {
  return body as unknown as AsyncIterableIterator<string>
}

test('a large response is sent whole, and counts until then', async () => {
  const { memory, clock, unsent } = world()
  const body = unsent.body('w', large)
  expect(memory.bytes).toBe(large.length)
  expect(await new Response(body).text()).toBe(large)
  expect([memory.bytes, clock.pending]).toEqual([0, 0])
  expect(unsent.body('w', 'small')).toBe('small')
})

test('a response counts no longer when its caller has left, or reads nothing for a minute', async () => {
  const { memory, clock, unsent } = world()
  const left = iterator(unsent.body('w', large))
  await left.next()
  await left.return?.()
  expect(memory.bytes).toBe(0)
  const silent = iterator(unsent.body('w', large))
  await silent.next()
  clock.advance(59_000)
  await silent.next()
  clock.advance(59_000)
  expect(memory.bytes).toBe(large.length)
  clock.advance(1_000)
  expect([memory.bytes, clock.pending]).toEqual([0, 0])
  // The connection breaks, because half a response must not look complete.
  let thrown: unknown = 'nothing'
  await silent.next().catch((error: unknown) => {
    thrown = error
  })
  expect(thrown).toBeUndefined()
})

test('readers of the log who leave much unread stop further ones of their workspace, and no runs', async () => {
  const { memory, unsent } = world()
  const bodies = [1, 2, 3].map(() => iterator(unsent.logBody('w', large)))
  expect(() => unsent.assertLogRoom('w')).toThrow('have not read')
  expect(() => unsent.assertLogRoom('other')).not.toThrow()
  expect(memory.hasRoom('w')).toBe(true)
  for (const body of bodies) await body.return?.()
  expect(() => unsent.assertLogRoom('w')).not.toThrow()
})

test('parts that are read while they are sent count one by one, and are read no further when the reader leaves', async () => {
  const { memory, unsent } = world()
  const failures: unknown[] = []
  const fail = (cause: unknown) => void failures.push(cause)
  const read: number[] = []
  let closed = false
  async function* parts() {
    try {
      for (let part = 0; part < 3; part += 1) {
        read.push(part)
        yield large
      }
    } finally {
      closed = true
    }
  }
  expect((await new Response(unsent.logBodyOf('w', parts(), fail)).text()).length).toBe(3 * large.length)
  expect([read, memory.bytes, closed]).toEqual([[0, 1, 2], 0, true])
  const body = iterator(unsent.logBodyOf('w', parts(), fail))
  await body.next()
  expect(memory.bytes).toBe(large.length)
  closed = false
  await body.return?.()
  expect([read.length, memory.bytes, closed]).toEqual([4, 0, true])
  async function* failing() {
    yield 'a'
    throw new Error('The disk is gone')
  }
  const broken = iterator(unsent.logBodyOf('w', failing(), fail))
  expect(await broken.next()).toEqual({ value: 'a', done: false })
  expect(
    await broken.next().then(
      () => 'sent',
      (error: unknown) => error,
    ),
  ).toBeUndefined()
  expect([memory.bytes, failures]).toEqual([0, [new Error('The disk is gone')]])
})

test('entries of the log are read one after the other, also after one that failed', async () => {
  const { unsent } = world()
  let atOnce = 0
  let most = 0
  const work = async () => {
    atOnce += 1
    most = Math.max(most, atOnce)
    await new Promise(setImmediate)
    atOnce -= 1
    if (most < 0) throw new Error()
  }
  const failed = unsent.inTurn(() => Promise.reject(new Error('no')))
  await Promise.all([expect(failed).rejects.toThrow('no'), unsent.inTurn(work), unsent.inTurn(work)])
  expect(most).toBe(1)
})
