import { expect, test } from 'bun:test'
import { AppError } from '../../src/domain/errors.ts'
import { OutboxWorld } from './outbox-world.ts'

test('a body that could not be made is made again', async () => {
  const world = await OutboxWorld.open()
  let isDown = true
  const freshen = (text: string) => {
    return isDown ? Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'no credentials')) : text
  }
  await world.start({ freshen })
  const subscription = await world.subscribe('a')
  const files = { folder: 'f', count: 1, bytes: 5, text: '[{"url":"x"}]' }
  await world.record([world.row([subscription], { files })])
  await world.quiet()
  expect(world.attempts).toHaveLength(0)
  isDown = false
  await world.pass(1_000)
  expect(world.attempts).toHaveLength(1)
  expect(world.bugs).toEqual([])
  await world.close()
})
