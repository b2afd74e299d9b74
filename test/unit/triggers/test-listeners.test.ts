import { expect, test } from 'bun:test'
import { TestListeners } from '../../../src/triggers/test-listeners.ts'
import { ManualClock } from '../../support/clock.ts'

type Taken = { bytes: number; text: string }
const minute = 60_000
const taken = (text: string, bytes = 10): Taken => ({ bytes, text })

function open() {
  const clock = new ManualClock()
  let number = 0
  const listeners = new TestListeners<Taken>({ clock, newToken: () => `token-${++number}`, shareFactor: 4 })
  return { clock, listeners }
}

const ada = { workflowId: 'w', workspaceId: 'one', userId: 'ada', trigger: 'webhook' } as const
const never = new AbortController().signal

test('a listener takes one request, and keeps it for half an hour', async () => {
  const { clock, listeners } = open()
  const { token } = listeners.open(ada)
  const waiting = listeners.wait(token, minute, never)
  expect(listeners.take(token, taken('first'))).toBe(true)
  expect((await waiting)?.request?.text).toBe('first')
  expect(listeners.take(token, taken('second'))).toBe(false)
  clock.advance(29 * minute)
  expect(listeners.find(token)?.request?.text).toBe('first')
  clock.advance(minute)
  expect(listeners.find(token)).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('a listener ends after ten minutes without a request', async () => {
  const { clock, listeners } = open()
  const { token, expiresAt } = listeners.open(ada)
  expect(expiresAt - clock.now()).toBe(10 * minute)
  const waiting = listeners.wait(token, 60 * minute, never)
  clock.advance(10 * minute)
  expect(await waiting).toBeUndefined()
  expect(listeners.take(token, taken('late'))).toBe(false)
})

test('waiting ends after its time, or when the caller leaves, and the listener stays', async () => {
  const { clock, listeners } = open()
  const { token } = listeners.open(ada)
  const waiting = listeners.wait(token, minute, never)
  clock.advance(minute)
  expect(await waiting).toMatchObject({ token, request: undefined })
  const leaving = new AbortController()
  const left = listeners.wait(token, minute, leaving.signal)
  leaving.abort()
  expect(await left).toMatchObject({ token })
})

test('a person has one listener per workflow, and others keep theirs', () => {
  const { listeners } = open()
  const first = listeners.open(ada)
  const other = listeners.open({ ...ada, userId: 'grace' })
  const elsewhere = listeners.open({ ...ada, workflowId: 'v' })
  const second = listeners.open(ada)
  const found = [first, other, elsewhere, second].map(({ token }) => listeners.find(token) !== undefined)
  expect(found).toEqual([false, true, true, true])
})

test('requests share a memory: the oldest are dropped, never the latest', () => {
  const { listeners } = open()
  const tokens = ['a', 'b', 'c'].map((userId) => listeners.open({ ...ada, userId }).token)
  for (const token of tokens) expect(listeners.take(token, taken('large', 30 * 1_048_576))).toBe(true)
  expect(tokens.map((token) => listeners.find(token) !== undefined)).toEqual([false, true, true])
  listeners.stop()
  expect(tokens.map((token) => listeners.find(token))).toEqual([undefined, undefined, undefined])
})

test('a workspace cannot drop the requests of others', () => {
  const { listeners } = open()
  const quiet = listeners.open({ ...ada, workspaceId: 'two' }).token
  listeners.take(quiet, taken('small', 1_048_576))
  const tokens = ['a', 'b', 'c', 'd'].map((userId) => listeners.open({ ...ada, userId }).token)
  for (const token of tokens) listeners.take(token, taken('large', 30 * 1_048_576))
  expect([quiet, ...tokens].map((token) => listeners.find(token) !== undefined)).toEqual([
    true,
    false,
    false,
    true,
    true,
  ])
})

test('workspaces share the places: one that opens as many as it can leaves places to others', () => {
  const { clock, listeners } = open()
  const opened: string[] = []
  const fill = () => {
    for (;;) opened.push(listeners.open({ ...ada, workflowId: `w-${opened.length}` }).token)
  }
  expect(fill).toThrow('its share of the 1000 test addresses')
  expect(opened).toHaveLength(800)
  const other = listeners.open({ ...ada, workspaceId: 'two' })
  expect(listeners.find(other.token)).toBeDefined()
  // A place is free again when its listener is closed, or ends.
  expect(fill).toThrow('its share')
  listeners.close(opened[0]!)
  listeners.close(opened[1]!)
  expect(listeners.open({ ...ada, workflowId: 'again' }).token).toBeDefined()
  clock.advance(10 * minute)
  expect(clock.pending).toBe(0)
  opened.length = 0
  expect(fill).toThrow('its share')
  expect(opened).toHaveLength(800)
})

test('a test address belongs to one kind of trigger', () => {
  const { listeners } = open()
  const { token } = listeners.open({ ...ada, trigger: 'chat' })
  expect(listeners.at('chat', token)?.token).toBe(token)
  expect(listeners.at('webhook', token)).toBeUndefined()
})
