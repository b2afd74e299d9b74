import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HttpWorld } from './world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

test.each([
  '/sign-in?token=x',
  '/api/oauth/callback?state=x',
  '/sample/quotes?tag=x',
  '/files/a/b/c/d/e?expires=1&signature=x',
  '/nothing',
])('a Host header that is not a host causes no server error: %s', async (path) => {
  const { status } = await world.call('GET', path, { headers: { host: '%00' } })
  expect(status).toBeLessThan(500)
})
