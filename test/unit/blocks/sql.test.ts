import { describe, expect, test } from 'bun:test'
import { redis } from '../../../src/blocks/redis.ts'
import { sql } from '../../../src/blocks/sql.ts'
import { DatabaseError } from '../../../src/domain/database/database.ts'
import { MockedCalls } from '../../../src/engine/tests/mocked-calls.ts'
import { callerOf } from '../../support/databases/clients.ts'
import { makeContext } from './context.ts'

const codesOf = (query: string) => sql.check!({ query }, undefined as never, { query }).map(({ code }) => code)

describe('a query', () => {
  test('cannot contain references, in quotes or not', () => {
    for (const query of [
      "SELECT '<start.name>'",
      'SELECT <start.id>',
      'SELECT * FROM {{TABLE}}',
      "SELECT '{{NAME}}'",
    ]) {
      expect([query, codesOf(query)]).toEqual([query, ['REFERENCE_IN_QUERY']])
    }
    const [finding] = sql.check!({ query: 'SELECT <start.id>' }, undefined as never, {})
    expect(finding?.message).toContain('Put <start.id> in "params"')
    for (const query of ['SELECT 1 WHERE a < b.c AND d > 1', "SELECT data->>'x' FROM t WHERE a <> b", 'SELECT a<@b'])
      expect([query, codesOf(query)]).toEqual([query, []])
    const command = { command: '<start.command>' }
    expect(redis.check!(command, undefined as never, command)).toMatchObject([{ code: 'REFERENCE_IN_COMMAND' }])
  })

  test('fails the block with the facts of its error', async () => {
    using context = makeContext({
      sql: () => Promise.reject(new DatabaseError('SQL_ERROR', 'No such table', { sqlState: '42P01', statement: 1 })),
    })
    const params = { credential: 'db', query: 'SELECT 1', mode: 'rows', maxRows: 1, timeoutMs: 1, onError: 'stop' }
    const error = { code: 'SQL_ERROR', message: 'No such table', sqlState: '42P01', statement: 1 }
    expect(await sql.run(params, context)).toMatchObject({ error, outputs: { rows: null, error } })
  })
})

test('a test of a workflow answers statements and commands from its mocks, and no database is asked', async () => {
  const mocked = new MockedCalls([
    { request: { method: 'SQL', url: 'shop' }, response: { status: 200, data: [{ id: 1 }, { id: 2 }] } },
    { request: { method: 'REDIS', url: 'cache' }, response: { status: 200, data: 'PONG' } },
  ])
  const request = {
    credential: 'shop',
    query: 'SELECT $1',
    params: [7],
    mode: 'one' as const,
    maxRows: 10,
    timeoutMs: 1,
  }
  const found = await mocked.databases.sql(request, callerOf())
  expect(found).toMatchObject({ rows: [{ id: 1 }], count: 1, hasMore: true })
  const ping = { credential: 'cache', command: 'PING', args: [], timeoutMs: 1 }
  expect(await mocked.databases.redis(ping, callerOf())).toBe('PONG')
  await expect(mocked.databases.sql({ ...request, credential: 'other' }, callerOf())).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  })
  expect(mocked.made[0]).toEqual({ method: 'SQL', url: 'shop', body: { query: 'SELECT $1', params: [7] } })
  expect([...mocked.missing][0]).toContain('Add one to "mocks"')
})
