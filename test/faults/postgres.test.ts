import { expect, test } from 'bun:test'
import { millrace, temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { allExecutions, deploy, type Installation, serve } from '../support/running-service.ts'
import { PostgresServer } from '../support/store/postgres.ts'

test('while PostgreSQL is killed and started again, callers get 503, and no acknowledged run is missing', async () => {
  await using server = await PostgresServer.start({ isDurable: true })
  using folder = temporaryFolder()
  const store = await server.createDatabase()
  const environment = { MILLRACE_STORE: store, MILLRACE_SECRET_KEY: 'a secret key with more than 32 characters' }
  const made = await millrace(['init', '--json'], { environment: { ...environment, MILLRACE_DATA: folder.path } })
  const { apiKey, workspaceId } = JSON.parse(made.out) as Installation
  const service = await serve(folder.path, environment)
  const url = await deploy(service.url, apiKey, document({ name: 'Plain', blocks: [block('start', 'api_trigger')] }))
  const acknowledged: string[] = []
  const refused: { status: number; retryAfter: string | null; tookMs: number }[] = []
  let isCalling = true
  const call = async () => {
    while (isCalling) {
      const startedAt = performance.now()
      const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': apiKey }, body: '{}' })
      const { executionId } = (await response.json()) as { executionId: string }
      const tookMs = performance.now() - startedAt
      const retryAfter = response.headers.get('retry-after')
      if (response.status === 200) acknowledged.push(executionId)
      else refused.push({ status: response.status, retryAfter, tookMs })
      if (response.status !== 200) await Bun.sleep(10)
    }
  }
  const calling = Promise.all(Array.from({ length: 8 }, call))
  for (let kills = 1; kills <= 3; kills += 1) {
    const before = acknowledged.length
    while (acknowledged.length < before + 50) await Bun.sleep(5)
    const refusedBefore = refused.length
    await server.kill()
    while (refused.length < refusedBefore + 20) await Bun.sleep(5)
    await server.run()
  }
  const before = acknowledged.length
  while (acknowledged.length < before + 50) await Bun.sleep(5)
  isCalling = false
  await calling
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
  expect(refused.every(({ retryAfter }) => retryAfter !== null)).toBe(true)
  // A bound for callers, not a measurement.
  expect(Math.max(...refused.map(({ tookMs }) => tookMs))).toBeLessThan(2_000)
  const logged: string[] = []
  for await (const execution of allExecutions(service.url, apiKey, workspaceId)) logged.push(execution)
  await service.kill('SIGTERM')
  expect(new Set(logged).size).toBe(logged.length)
  expect(acknowledged.filter((execution) => !logged.includes(execution))).toEqual([])
}, 120_000)
