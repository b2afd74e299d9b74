import { describe, expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { AppError } from '../../../src/domain/errors.ts'
import { migrations } from '../../../src/store/postgres/migrations/migrations.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../../../src/store/postgres/postgres-store.ts'
import { ManualClock } from '../../support/clock.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { allExecutions, deploy, keepCalling, serve } from '../../support/running-service.ts'
import { PostgresServer } from '../../support/store/postgres.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const certificates = resolve(import.meta.dir, '../../support/certificates')
const secretKey = 'a secret key with more than 32 characters'

const serves = { version: '1', url: 'http://127.0.0.1:1', usesFolder: false, clock: new ManualClock(0) }

const server = postgresServer({ certificates })

/** Why a store cannot be opened; undefined when it can. */
async function refusalOf(url: string, serves?: PostgresStoreOptions['serves']): Promise<AppError | undefined> {
  try {
    await (await openPostgresStore({ url, ...(serves && { serves }) })).close()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return error as AppError
  }
}
const admin = (text: string) => queryPostgres(server().url('postgres'), text)

describe('a start on PostgreSQL explains', () => {
  test('that another process keeps files in a folder, until that one stops', async () => {
    const url = await server().createDatabase()
    const first = await openPostgresStore({ url, serves: { ...serves, usesFolder: true } })
    const refusal = await refusalOf(url, serves)
    expect(refusal).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('keeps files in a folder') })
    // Commands work beside a service.
    await (await openPostgresStore({ url })).close()
    await first.close()
    await (await openPostgresStore({ url, serves })).close()
  })

  test('that another process keeps files in a folder, until its lease has ended', async () => {
    const url = await server().createDatabase()
    const suspended = await openPostgresStore({ url, serves: { ...serves, usesFolder: true } })
    await queryPostgres(url, "UPDATE millrace.processes SET lease_until = now() - interval '1 second'")
    const next = await openPostgresStore({ url, serves })
    await next.close()
    await suspended.close()
  })

  test('that another process encrypts with a key that this one does not have', async () => {
    const url = await server().createDatabase()
    const [one, two, three] = [1, 2, 3].map((byte) => new Uint8Array([1, 0, 0, 0, byte])) as [Key, Key, Key]
    const first = await openPostgresStore({ url, serves })
    await first.announceKeys([one])
    // A key is replaced process by process: first all of them learn the new one, then it becomes the current one.
    const second = await openPostgresStore({ url, serves })
    await second.announceKeys([one, two])
    const third = await openPostgresStore({ url, serves })
    expect(await rejectionOf(third.announceKeys([three]))).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('another MILLRACE_SECRET_KEY'),
    })
    const fourth = await openPostgresStore({ url, serves })
    expect(await rejectionOf(fourth.announceKeys([two, one]))).toMatchObject({ code: 'CONFLICT' })
    await first.close()
    const fifth = await openPostgresStore({ url, serves })
    await fifth.announceKeys([two, one])
    expect(await fifth.listProcesses()).toHaveLength(2)
    for (const store of [second, third, fourth, fifth]) await store.close()
  })
})

type Key = Uint8Array

test('processes that start together on an empty database create its schema once', async () => {
  const url = await server().createDatabase()
  const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresStore({ url })))
  expect(await queryPostgres(url, 'SELECT number FROM millrace.migrations')).toHaveLength(migrations.length)
  await Promise.all(stores.map((store) => store.close()))
})

test('a least privileged user can run the service', async () => {
  await admin('CREATE ROLE least LOGIN')
  const url = await server().createDatabase()
  const name = new URL(url).pathname.slice(1)
  await admin(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`)
  await admin(`GRANT CREATE, CONNECT ON DATABASE ${name} TO least`)
  const store = await openPostgresStore({ url: url.replace('postgres@', 'least@') })
  expect(await store.isInitialised()).toBe(false)
  await store.close()
})

describe('TLS', () => {
  const authority = join(certificates, 'authority.pem')
  const open = async (parameters: string, host = '127.0.0.1') => {
    const url = server().url('postgres').replace('127.0.0.1', host)
    return (await refusalOf(`${url}?${parameters}`))?.message
  }

  test('verifies the certificate and the host as sslmode says', async () => {
    expect(await open('sslmode=require')).toBeUndefined()
    expect(await open(`sslmode=verify-full&sslrootcert=${authority}`)).toBeUndefined()
    expect(await open(`sslmode=verify-ca&sslrootcert=${authority}`, 'localhost')).toBeUndefined()
    expect(await open(`sslmode=verify-full&sslrootcert=${authority}`, 'localhost')).toContain('altnames')
    expect(await open('sslmode=verify-full')).toContain('cannot be reached with TLS as MILLRACE_STORE demands')
  })

  test('is required if the address says so', async () => {
    await using plain = await PostgresServer.start()
    const url = plain.url('postgres')
    expect((await refusalOf(`${url}?sslmode=require`))?.message).toContain('Server does not support SSL')
    await (await openPostgresStore({ url: `${url}?sslmode=prefer` })).close()
  }, 60_000)
})

test('no acknowledged run is missing after kill -9 of the executable, and none appears twice', async () => {
  using folder = temporaryFolder()
  const environment = { MILLRACE_STORE: await server().createDatabase(), MILLRACE_SECRET_KEY: secretKey }
  const made = await millrace(['init', '--json'], { environment: { ...environment, MILLRACE_DATA: folder.path } })
  const { apiKey, workspaceId } = JSON.parse(made.out) as { apiKey: string; workspaceId: string }
  const first = await serve(folder.path, environment)
  expect(await (await fetch(`${first.url}/health/ready`)).json()).toMatchObject({ store: 'postgres' })
  const workflow = document({ name: 'Plain', blocks: [block('start', 'api_trigger')] })
  const url = await deploy(first.url, apiKey, workflow)
  const acknowledged = new Set<string>()
  const calling = Promise.all(Array.from({ length: 8 }, () => keepCalling(url, apiKey, acknowledged)))
  while (acknowledged.size < 200) await Bun.sleep(5)
  await first.kill('SIGKILL')
  await calling
  const second = await serve(folder.path, environment)
  const logged: string[] = []
  for await (const execution of allExecutions(second.url, apiKey, workspaceId)) logged.push(execution)
  await second.kill('SIGTERM')
  expect(new Set(logged).size).toBe(logged.length)
  expect([...acknowledged].filter((execution) => !logged.includes(execution))).toEqual([])
}, 60_000)

test('a start without a secret key exits with 1', async () => {
  using folder = temporaryFolder()
  const environment = { MILLRACE_STORE: server().url('postgres'), MILLRACE_DATA: folder.path, MILLRACE_PORT: '0' }
  const { code, words } = await millrace(['serve'], { environment })
  expect({ code, words }).toEqual({ code: 1, words: expect.stringContaining('MILLRACE_SECRET_KEY is not set') })
})

test('doctor describes the database without its password', async () => {
  using folder = temporaryFolder()
  const store = await server().createDatabase()
  const withPassword = store.replace('postgres@', 'postgres:hidden@')
  const environment = { MILLRACE_STORE: withPassword, MILLRACE_SECRET_KEY: secretKey, MILLRACE_DATA: folder.path }
  expect((await millrace(['init'], { environment })).code).toBe(0)
  const healthy = await millrace(['doctor'], { environment })
  expect(healthy.code).toBe(0)
  expect(healthy.out).toMatch(/database\s+The installation in .* can be used/)
  expect(healthy.out).not.toContain('hidden')
})

test.each(['backup there.tar', 'restore there.tar'])('millrace %s exits with 1 and changes nothing', async (words) => {
  using folder = temporaryFolder()
  const environment = {
    ...{ MILLRACE_STORE: server().url('postgres'), MILLRACE_SECRET_KEY: secretKey, MILLRACE_DATA: folder.path },
  }
  const ended = await millrace(words.split(' '), { environment, cwd: folder.path })
  expect(ended).toMatchObject({ code: 1, words: expect.stringMatching(/pg_(dump|restore)/) })
})
