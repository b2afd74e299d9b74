import { expect, test } from 'bun:test'
import { join } from 'node:path'
import '../../support/built.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { allExecutions, call, deploy, init, keepCalling, serve } from '../../support/running-service.ts'

const workflow = document({
  name: 'Backed up',
  blocks: [
    block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
    block('f', 'function', { code: 'return "x".repeat(<api.n> % 700) + Math.random()' }),
  ],
  edges: ['start > f'],
})

test('a backup under load contains every run acknowledged before it began, and restores to a working service', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const { apiKey, workspaceId } = await init(data)
  const service = await serve(data)
  const url = await deploy(service.url, apiKey, workflow)
  const acknowledged = new Set<string>()
  const callers = Array.from({ length: 8 }, () => keepCalling(url, apiKey, acknowledged))
  while (acknowledged.size < 300) await Bun.sleep(1)

  const file = join(folder.path, 'backup.tar')
  const before = [...acknowledged]
  const made = await millrace(['backup', file, '--data', data, '--json'])
  expect(made).toMatchObject({ code: 0, words: '' })
  expect(JSON.parse(made.out)).toMatchObject({ file, files: 0 })
  const during = acknowledged.size
  while (acknowledged.size < during + 50) await Bun.sleep(1)
  await service.kill('SIGKILL')
  await Promise.all(callers)

  const restored = join(folder.path, 'restored')
  expect((await millrace(['restore', file, '--data', restored])).code).toBe(0)
  expect((await millrace(['doctor', '--data', restored])).code).toBe(0)
  const again = await serve(restored)
  const seen = new Set<string>()
  for await (const executionId of allExecutions(again.url, apiKey, workspaceId)) {
    expect(seen.has(executionId)).toBe(false)
    seen.add(executionId)
  }
  expect(before.filter((executionId) => !seen.has(executionId))).toEqual([])
  expect(seen.size).toBeLessThan(acknowledged.size)
  const { status } = await call(new URL(new URL(url).pathname, again.url).href, apiKey, 'POST', { n: 1 })
  expect(status).toBe(200)
  expect(await again.kill('SIGTERM')).toBe(0)
}, 120_000)
