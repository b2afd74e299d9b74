import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Kind } from '@sinclair/typebox'
import { oneOf } from '../../../../src/domain/one-of.ts'
import { findValidationErrors } from '../../../../src/domain/workflow/shape.ts'
import { createServer } from '../../../../src/http/server.ts'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

/** A route as Elysia stores it. */
type Route = { method: string; path: string; hooks?: { body?: object; query?: object } }

/** The kinds of all schemas in a schema, except schemas that are only documentation. */
function* kindsIn(schema: object): Generator<unknown> {
  for (const inner of Object.values(schema)) {
    if (typeof inner !== 'object' || inner === null) continue
    if (Kind in inner) yield inner[Kind]
    yield* kindsIn(inner)
  }
}

test('every body and every query has a schema that can be checked', async () => {
  const server = createServer(world.services)
  const routes = [...server.app.routes, ...(await server.editor()).routes] as unknown as Route[]
  const read = routes.flatMap(({ method, path, hooks }) =>
    [hooks?.body, hooks?.query].flatMap((schema) => (schema ? [{ route: `${method} ${path}`, schema }] : [])),
  )
  expect(read.length).toBeGreaterThan(20)
  for (const { route, schema } of read) {
    expect([route, [...kindsIn(schema)].filter((kind) => kind === 'Unsafe')]).toEqual([route, []])
  }
})

test('a text outside the allowed values is refused with an explanation', () => {
  const role = oneOf(['editor', 'viewer'], { description: 'What a member may do.' })
  expect(findValidationErrors(role, 'viewer')).toEqual([])
  const message = 'The value must be one of "editor", "viewer", not the text "owner".'
  expect(findValidationErrors(role, 'owner')).toEqual([{ path: '', message }])
})
