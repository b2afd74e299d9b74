import { describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import type { EditorEvent } from '../../../src/domain/workflow/editor-event.ts'
import { EditorRooms } from '../../../src/events/editor-rooms.ts'
import { LocalPresence } from '../../../src/store/sqlite/local-presence.ts'
import { ManualClock } from '../../support/clock.ts'

class Reader {
  readonly events: EditorEvent[] = []
  hasEnded = false

  message(text: string): void {
    this.events.push(JSON.parse(text) as EditorEvent)
  }

  end(): void {
    this.hasEnded = true
  }

  get editorId(): string {
    return this.events.flatMap((each) => (each.event === 'joined' ? [each.editorId] : []))[0] ?? ''
  }

  /** The accounts in the list that was sent last, with their blocks. */
  get present(): string[] {
    const lists = this.events.flatMap((each) => (each.event === 'editors' ? [each.editors] : []))
    return (lists.at(-1) ?? []).map(({ userId, blockId }) => (blockId === null ? userId : `${userId} at ${blockId}`))
  }

  count(event: EditorEvent['event']): number {
    return this.events.filter((each) => each.event === event).length
  }
}

function open(store = new LocalPresence(), editorsMax = 10) {
  const clock = new ManualClock()
  const failures: unknown[] = []
  const rooms = new EditorRooms({
    ...{ store, clock, editorsMax, shareFactor: 4 },
    emailOf: async (userId) => `${userId}@example.org`,
    onFailure: (cause) => failures.push(cause),
  })
  const join = (userId: string, workflowId = 'w1') => {
    const reader = new Reader()
    const draft = { revision: 1, savedAt: 0, savedBy: null }
    const leave = rooms.join({ workflowId, workspaceId: 'home', userId, email: `${userId}@example.org`, draft }, reader)
    return { reader, leave }
  }
  /** Advances in small steps, so that answers to a call arrive before the next one. */
  const pass = async (seconds: number, answering: readonly { reader: Reader; userId: string }[] = []) => {
    for (let second = 0; second < seconds; second += 1) {
      const before = answering.map(({ reader }) => reader.count('call'))
      clock.advance(1_000)
      for (const [at, { reader, userId }] of answering.entries()) {
        if (reader.count('call') > before[at]!) rooms.place('w1', reader.editorId, userId, null)
      }
      await settled()
    }
  }
  return { rooms, clock, join, pass, failures }
}

/** All reads of the store have been sent. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
const saved = (revision: number) => ({ id: 'w1', revision, updatedAt: 7, updatedBy: 'ada' })

describe('the editors of a workflow', () => {
  test('learn who else is there, where, and who leaves', async () => {
    const { rooms, join } = open()
    const ada = join('ada')
    const bob = join('bob')
    join('eve', 'w2')
    await settled()
    expect([ada.reader.present, bob.reader.present]).toEqual([
      ['ada', 'bob'],
      ['ada', 'bob'],
    ])
    expect(rooms.place('w1', bob.reader.editorId, 'bob', 'b7')).toBe(true)
    await settled()
    expect(ada.reader.present).toEqual(['ada', 'bob at b7'])
    bob.leave()
    await settled()
    expect(ada.reader.present).toEqual(['ada'])
  })

  test('cannot be moved by another account', async () => {
    const { rooms, join } = open()
    const { reader } = join('ada')
    await settled()
    expect(rooms.place('w1', reader.editorId, 'eve', 'b1')).toBe(false)
    expect(rooms.place('w2', reader.editorId, 'ada', 'b1')).toBe(false)
    await settled()
    expect(reader.present).toEqual(['ada'])
  })

  test('are gone within seconds when they answer no call, and are back when they answer one', async () => {
    const { rooms, join, pass } = open()
    const [ada, bob] = [join('ada').reader, join('bob').reader]
    await settled()
    await pass(30, [{ reader: ada, userId: 'ada' }])
    expect(ada.present).toEqual(['ada'])
    rooms.place('w1', bob.editorId, 'bob', null)
    await settled()
    expect(ada.present).toEqual(['ada', 'bob'])
  })

  test('are sent nothing while they are alone, and stay in the list', async () => {
    const { join, pass } = open()
    const { reader } = join('ada')
    await settled()
    const before = reader.events.length
    await pass(60)
    expect(reader.events.length).toBe(before)
    const bob = join('bob')
    await settled()
    expect(bob.reader.present).toEqual(['ada', 'bob'])
  })

  test('are told once about each saved draft, and who saved it', async () => {
    const { rooms, join } = open()
    const { reader } = join('ada')
    await settled()
    await rooms.saved(saved(1))
    await rooms.saved(saved(2))
    await rooms.saved(saved(2))
    await settled()
    expect(reader.events.filter(({ event }) => event === 'saved')).toEqual([
      { event: 'saved', draft: { revision: 2, savedAt: 7, savedBy: 'ada@example.org' } },
    ])
  })

  test('of two processes that share a store learn about one another', async () => {
    const store = new LocalPresence()
    const [here, there] = [open(store), open(store)]
    const ada = here.join('ada').reader
    there.join('bob')
    await settled()
    await there.rooms.saved(saved(5))
    await here.pass(5, [{ reader: ada, userId: 'ada' }])
    expect(ada.present).toEqual(['ada', 'bob'])
    expect(ada.count('saved')).toBe(1)
  })

  test('leave places and no timers behind', async () => {
    const { rooms, clock, join } = open(new LocalPresence(), 3)
    const [ada, bob] = [join('ada'), join('bob', 'w2')]
    await settled()
    expect(() => join('eve')).toThrow(AppError)
    for (const { leave } of [ada, bob, ada]) leave()
    await settled()
    expect([rooms.rooms, clock.pending]).toEqual([0, 0])
    expect(() => join('eve')).not.toThrow()
  })

  test('are told in portions when they are many, with what is true by then', async () => {
    const { rooms, clock, join } = open(new LocalPresence(), 1_000)
    const readers = Array.from({ length: 100 }, (_, at) => join(`user ${at}`).reader)
    const told = (revision: number) =>
      readers.filter(({ events }) => events.some((e) => e.event === 'saved' && e.draft.revision === revision)).length
    const pass = async () => {
      clock.advance(25)
      await settled()
    }
    await settled()
    for (let round = 0; round < 10; round += 1) await pass()
    await rooms.saved(saved(2))
    await settled()
    expect(told(2)).toBe(20)
    await rooms.saved(saved(3))
    await settled()
    expect([told(2), told(3)]).toEqual([20, 0])
    for (let round = 0; round < 5; round += 1) await pass()
    expect([told(2), told(3)]).toEqual([20, 100])
    for (const { present } of readers) expect(present.length).toBe(50)
  })

  test('that know the list are not sent it again when somebody arrives behind its end', async () => {
    const { clock, join } = open(new LocalPresence(), 1_000)
    const readers = Array.from({ length: 60 }, (_, at) => join(`user ${at}`).reader)
    for (let round = 0; round < 10; round += 1) {
      clock.advance(25)
      await settled()
    }
    const lists = readers.map((reader) => reader.count('editors'))
    const late = join('late').reader
    await settled()
    expect(late.present.length).toBe(50)
    expect(readers.map((reader) => reader.count('editors'))).toEqual(lists)
  })

  test('are sent the end of their streams when the service stops', async () => {
    const { rooms, clock, join } = open()
    const { reader } = join('ada')
    rooms.close()
    expect([reader.hasEnded, clock.pending]).toEqual([true, 0])
  })
})

test('a store that fails ends no stream, and is read again', async () => {
  const store = new LocalPresence()
  const read = store.readPresence
  let isDown = true
  Object.assign(store, {
    readPresence: (...given: Parameters<typeof read>) =>
      isDown ? Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'down')) : read(...given),
  })
  const { join, pass, failures } = open(store)
  const { reader } = join('ada')
  await settled()
  expect(failures.length).toBe(1)
  isDown = false
  await pass(6)
  expect(reader.present).toEqual(['ada'])
})
