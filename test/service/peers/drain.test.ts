import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { call, init, type Serving } from '../../support/running-service.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { answerOf, Processes, until } from './processes.ts'

// Two processes serve one installation. The first one is drained.

const server = postgresServer()
let processes: Processes
let first: Serving
let second: Serving
type Row = { id: string; url: string; leader: boolean; draining: boolean; holds: { runs: number } }

beforeAll(async () => {
  processes = await Processes.start(await server().createDatabase(), 2)
  ;[first, second] = processes.all as [Serving, Serving]
}, 120_000)
afterAll(() => processes[Symbol.asyncDispose]())

const list = async (): Promise<Row[]> => {
  return (await processes.send(second, 'GET', '/api/editor/processes')).json['data']
}

test('the owner of the installation sees its processes, and nobody else does', async () => {
  const rows = await list()
  expect(rows).toMatchObject([
    { url: first.url, pid: first.pid, leader: true, draining: false, gone: false, version: expect.any(String) },
    { url: second.url, pid: second.pid, leader: false, draining: false, gone: false },
  ])
  expect((await processes.send(first, 'GET', '/api/editor/me')).json['service']).toMatchObject({ showsProcesses: true })
  expect((await fetch(`${second.url}/api/editor/processes`)).status).toBe(401)
  expect((await processes.send(first, 'POST', '/api/editor/processes/unknown/drain')).status).toBe(404)
})

test('the command line lists them in the documented shape', async () => {
  const { code, out } = await processes.command('processes', 'list', '--json')
  expect(code).toBe(0)
  const holds = { runs: 0, jobs: 0, deliveries: 0, schedules: expect.any(Number) }
  const times = { startedAt: expect.stringMatching(/Z$/), heartbeatAt: expect.stringMatching(/Z$/) }
  const facts = { id: expect.any(String), host: expect.any(String), version: expect.any(String), ...times, holds }
  expect(JSON.parse(out)).toEqual([
    { ...facts, leader: true, draining: false },
    { ...facts, leader: false, draining: false },
  ])
  const text = await processes.command('processes', 'list')
  expect(text.out).toContain('leader')
  const doctor = await processes.command('doctor', '--json')
  expect(JSON.parse(doctor.out)).toContainEqual(
    expect.objectContaining({ check: 'processes', state: 'ok', message: expect.stringContaining('2 processes') }),
  )
})

test('a drained process finishes its runs, says that it is not ready, and gives up the lead', async () => {
  const id = await processes.create(first, processes.waiting())
  const arrival = processes.arrival()
  const running = call(`${first.url}/api/workflows/${id}/execute`, processes.apiKey, 'POST', {})
  await arrival
  const { id: drained } = (await list())[0]!
  expect((await processes.command('drain', drained, '--no-wait')).code).toBe(0)
  await until(async () => (await fetch(`${first.url}/health/ready`)).status === 503)
  const refused = await fetch(`${first.url}/health/ready`).then(answerOf)
  expect(refused.json).toMatchObject({ code: 'OVERLOADED', error: expect.stringContaining('draining') })
  expect((await fetch(`${first.url}/health/live`)).status).toBe(200)
  expect((await fetch(`${second.url}/health/ready`)).status).toBe(200)
  expect(await (await fetch(`${first.url}/metrics`)).text()).toContain('\nmillrace_draining 1\n')
  await until(async () =>
    (await fetch(`${second.url}/metrics`).then((r) => r.text())).includes('\nmillrace_leader 1\n'),
  )

  const waiting = processes.command('drain', drained)
  // It renews its row about every ten seconds.
  await until(async () => (await list())[0]!.holds.runs === 1)
  processes.release()
  expect((await running).status).toBe(200)
  const ended = await waiting
  expect([ended.code, ended.words]).toEqual([0, expect.stringContaining('can be stopped')])
}, 60_000)

describe('the commands', () => {
  test('name an unknown process', async () => {
    const { code, words } = await processes.command('drain', 'unknown')
    expect([code, words]).toEqual([1, expect.stringContaining('No process unknown')])
  })

  test('say that one process serves an installation on SQLite', async () => {
    using folder = temporaryFolder()
    await init(folder.path)
    for (const words of [
      ['processes', 'list'],
      ['drain', 'x'],
    ]) {
      const ended = await millrace(words, { environment: { MILLRACE_DATA: folder.path, MILLRACE_STORE: 'sqlite' } })
      expect([ended.code, ended.words]).toEqual([1, expect.stringContaining('One process serves')])
    }
  })
})
