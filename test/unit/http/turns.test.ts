import { expect, test } from 'bun:test'
import { Turns } from '../../../src/http/requests/turns.ts'
import { ManualClock } from '../../support/clock.ts'

test('large bodies are parsed one after the other, and others have as much time in between', async () => {
  const clock = new ManualClock()
  const turns = new Turns(clock)
  const done: string[] = []
  const parse = (name: string) => () => {
    clock.advance(10)
    done.push(name)
    return name
  }
  const [first, second] = [turns.run(parse('first')), turns.run(parse('second'))]
  expect(await first).toBe('first')
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  expect(done).toEqual(['first'])
  clock.advance(9)
  await new Promise(setImmediate)
  expect(done).toEqual(['first'])
  clock.advance(1)
  expect(await second).toBe('second')
})

test('a body that cannot be parsed does not stop the next one', async () => {
  const turns = new Turns(new ManualClock())
  const broken = turns.run(() => {
    throw new Error('not JSON')
  })
  const next = turns.run(() => 'next')
  await expect(broken).rejects.toThrow('not JSON')
  expect(await next).toBe('next')
})
