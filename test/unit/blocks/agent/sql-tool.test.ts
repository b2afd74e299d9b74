import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registry } from '../../../../src/blocks/registry.ts'
import { credentialPlacesIn } from '../../../../src/domain/credential/names-in-document.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { TestDatabases } from '../../../support/databases/clients.ts'
import { block, document } from '../../../support/make.ts'
import { ModelServer } from '../../../support/models/model-server.ts'
import { outboundOf } from '../../../support/outbound/peers.ts'
import { World } from '../../engine/world.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-sql-tool-')))
const fields = { engine: 'sqlite', database: join(folder, 'shop.db') }
const databases = new TestDatabases({ db: { fields } }, { folders: [folder], data: join(folder, 'data') })
const outbound = outboundOf(['loopback'])
const world = new World({ fetch: outbound.fetch, open: outbound.open, databases: databases.clients })
beforeAll(async () => {
  await databases.sql('CREATE TABLE orders (id integer PRIMARY KEY, customer text)', { mode: 'execute' })
  await databases.sql("INSERT INTO orders VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Ann')", { mode: 'execute' })
}, 30_000)
afterAll(async () => {
  outbound.stop()
  await world.stop()
  await databases[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const agentWith = (server: { url: string }, tool: object) =>
  document({
    blocks: [
      block('in', 'api_trigger'),
      block('ask', 'agent', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: 'key', userPrompt: 'Go' },
        ...{ retries: 0, tools: [{ type: 'sql', ...tool }] },
      }),
    ],
    edges: ['in > ask'],
  })

/** Runs an agent whose model makes one call. Returns its result. */
async function ask(args: object, tool: object = { credential: 'db' }) {
  const call = { id: 'c1', name: 'query_database', arguments: JSON.stringify(args) }
  await using server = await ModelServer.start([{ toolCalls: [call] }, { text: ['Done'] }])
  const { record } = await world.run(agentWith(server, tool), {})
  return (record.output as { toolCalls: { result: unknown }[] }).toolCalls[0]?.result
}

describe('a model with a database as a tool', () => {
  test('reads rows with bound values, and no more than the author allows', async () => {
    const query = 'SELECT id FROM orders WHERE customer = ? ORDER BY id'
    expect(await ask({ query, params: ['Ann'] })).toEqual({ rows: [{ id: 1 }, { id: 3 }], hasMore: false })
    const one = await ask({ query, params: ['Ann'] }, { credential: 'db', maxRows: 1 })
    expect(one).toEqual({ rows: [{ id: 1 }], hasMore: true })
  })

  test.each([
    ['DELETE FROM orders', 'INVALID_QUERY'],
    ['/* SELECT */ UPDATE orders SET id = 9', 'INVALID_QUERY'],
    ['SELECT 1; DELETE FROM orders', 'INVALID_QUERY'],
    ['COMMIT', 'INVALID_QUERY'],
    ['PRAGMA query_only = OFF', 'INVALID_QUERY'],
    ['WITH gone AS (SELECT 1 AS id) DELETE FROM orders WHERE id IN (SELECT id FROM gone)', 'SQL_ERROR'],
    ["WITH new AS (SELECT 7) INSERT INTO orders SELECT 7, 'Eve' FROM new RETURNING id", 'SQL_ERROR'],
  ])('changes nothing with %j, and learns why', async (query, code) => {
    expect(await ask({ query })).toMatchObject({ error: { code } })
    const { rows } = await databases.sql('SELECT group_concat(id) AS ids FROM orders')
    expect(rows).toEqual([{ ids: '1,2,3' }])
  })

  test('cannot choose another database, or a mode', async () => {
    for (const more of [{ credential: 'other' }, { mode: 'execute' }, { maxRows: 5 }]) {
      expect(await ask({ query: 'SELECT 1', ...more })).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } })
    }
    // The connection can change rows again for a block.
    expect(await databases.sql('DELETE FROM orders WHERE id = 99', { mode: 'execute' })).toMatchObject({ count: 0 })
  })

  test('is checked when the workflow is deployed', () => {
    const faults = (tool: object) => {
      const { findings } = compilePlan(agentWith({ url: 'http://127.0.0.1:1' }, tool), registry, defaultLimits)
      return findings.flatMap(({ level, path }) => (level === 'error' ? [path?.split('params.')[1]] : []))
    }
    expect(faults({ credential: 'db' })).toEqual([])
    expect(faults({ maxRows: 0 })).toEqual(['tools.0.maxRows'])
    expect(faults({})).toEqual(['tools.0.credential'])
    const places = credentialPlacesIn(agentWith({ url: 'http://127.0.0.1:1' }, { credential: 'db' }))
    expect(places).toEqual([{ blockId: 'ask', path: 'tools.0.credential', name: 'db' }])
  })
})
