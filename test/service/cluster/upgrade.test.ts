import { expect, test } from 'bun:test'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { Database } from '../../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { allExecutions, call, deploy, type Serving } from '../../support/running-service.ts'

const echo = document({
  name: 'Echo',
  blocks: [block('start', 'api_trigger'), block('end', 'response', { data: { n: '<api.n>' } })],
  edges: ['start > end'],
})

/** The most that a newer version may do to the schema: add a column to every table, and add tables. */
const expansion = `
  DO $$ DECLARE t record; BEGIN
    FOR t IN SELECT c.oid::regclass AS name FROM pg_class c
      WHERE c.relnamespace = 'millrace'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    LOOP EXECUTE format('ALTER TABLE %s ADD COLUMN added_later text', t.name); END LOOP;
    CREATE TABLE millrace.added_later (id bigint PRIMARY KEY);
  END $$`

test('no call fails while a newer version adds to the schema and the processes are replaced', async () => {
  using folder = temporaryFolder()
  await using cluster = await TestCluster.create(folder.path)
  const { apiKey, workspaceId } = cluster.installation
  const [first, second] = await Promise.all([cluster.start(), cluster.start()])
  const path = new URL(await deploy(first.url, apiKey, echo)).pathname
  await Promise.all([first, second].map((process) => untilRuns(process, path, apiKey)))
  const calls = { toFirst: keepRunning(first, path, apiKey), toSecond: keepRunning(second, path, apiKey) }
  await expandSchema(cluster.environment['MILLRACE_STORE']!)
  const third = await cluster.start()
  await untilRuns(third, path, apiKey)
  calls.toFirst.stop()
  const done = await calls.toFirst.done
  await cluster.kill(first, 'SIGTERM')
  const toThird = keepRunning(third, path, apiKey)
  await Bun.sleep(500)
  calls.toSecond.stop()
  toThird.stop()
  const all = [done, await calls.toSecond.done, await toThird.done]
  expect(all.flatMap(({ failures }) => failures)).toEqual([])
  const logged = new Set<string>()
  for await (const id of allExecutions(third.url, apiKey, workspaceId)) logged.add(id)
  const acknowledged = all.flatMap(({ ids }) => ids)
  expect(all.every(({ ids }) => ids.length > 0)).toBe(true)
  expect(acknowledged.filter((id) => !logged.has(id))).toEqual([])
  // A command opens the store without a service, as a newer executable would.
  const store = await openPostgresStore({ url: cluster.environment['MILLRACE_STORE']! })
  expect(await store.lastSequence()).toBeGreaterThan(0)
  await store.close()
}, 60_000)

/** Like a migration, it is repeated when PostgreSQL ends it because a run and it wait for each other. */
async function expandSchema(url: string): Promise<void> {
  const database = new Database({ address: parseAddress(url), connectionsMax: 1, isPatient: true })
  await database.maintain((_, run) => run(expansion))
  await database.close()
}

async function untilRuns({ url }: Serving, path: string, apiKey: string): Promise<void> {
  while ((await call(url + path, apiKey, 'POST', { n: 0 })).status !== 200) await Bun.sleep(50)
}

/** Four callers that run a workflow until they are stopped. */
function keepRunning({ url }: Serving, path: string, apiKey: string) {
  const ids: string[] = []
  const failures: string[] = []
  let isStopped = false
  const callOnAndOn = async () => {
    for (let n = 0; !isStopped; n += 1) {
      const { status, body } = await call(url + path, apiKey, 'POST', { n })
      if (status === 200) ids.push((body as { executionId: string }).executionId)
      else failures.push(`${status} ${JSON.stringify(body)}`)
    }
  }
  const done = Promise.all(Array.from({ length: 4 }, callOnAndOn)).then(() => ({ ids, failures }))
  return { done, stop: () => (isStopped = true) }
}
