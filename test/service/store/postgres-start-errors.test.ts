import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Ended, millrace, temporaryFolder } from '../../support/executable.ts'
import { serve } from '../../support/running-service.ts'
import { oldPostgres } from '../../support/store/old-postgres.ts'
import { PgBouncer } from '../../support/store/pgbouncer.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

const certificates = resolve(import.meta.dir, '../../support/certificates')
const authority = join(certificates, 'authority.pem')
const clientCertificate = `sslcert=${join(certificates, 'client.pem')}&sslkey=${join(certificates, 'client.key')}`

const server = postgresServer({
  certificates,
  rules: [
    'host all protected 127.0.0.1/32 scram-sha-256',
    'hostssl all certified 127.0.0.1/32 cert',
    'host all certified 127.0.0.1/32 reject',
  ],
})
const admin = (text: string) => queryPostgres(server().url('postgres'), text)
const urlOf = (user: string, database: string) => server().url(database).replace('postgres@', `${user}@`)

beforeAll(async () => {
  await admin("CREATE ROLE protected LOGIN PASSWORD 'right'")
  for (const role of ['certified', 'stranger']) await admin(`CREATE ROLE ${role} LOGIN`)
})

/** Runs a command to its end in a new folder. The files of that folder are its `files`. */
async function run(store: string, args: readonly string[]): Promise<Ended & { files: string[] }> {
  using folder = temporaryFolder()
  const environment = {
    ...{ MILLRACE_STORE: store, MILLRACE_SECRET_KEY: 'a secret key with more than 32 characters' },
    ...{ MILLRACE_DATA: folder.path, MILLRACE_PORT: '0' },
  }
  const ended = await millrace(args, { environment, cwd: folder.path })
  return { ...ended, files: readdirSync(folder.path) }
}

/** Starts the service, which must exit with 1. Returns its explanation, which must be one line without a password. */
async function explanationOf(store: string): Promise<string> {
  const { code, out, words } = await run(store, ['serve'])
  expect({ code, out, lines: words.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 })
  expect(words).not.toContain('wrong-password')
  return words.trim()
}

describe('the service explains in one sentence why it does not start with', () => {
  test('an address that is not valid', async () => {
    expect(await explanationOf('postgres://u@h/m?sslmode=strict')).toContain('sslmode is "strict". Allowed are')
    expect(await explanationOf('postgres://u@h/m?sslmode=verify-full&sslrootcert=/missing.pem')).toContain(
      'The file of sslrootcert cannot be read',
    )
  })

  test('an unknown host, or a port where nothing listens', async () => {
    expect(await explanationOf('postgres://u@missing.invalid/m')).toContain(
      'no address is known for the name missing.invalid',
    )
    expect(await explanationOf('postgres://u:wrong-password@127.0.0.1:1,127.0.0.1:2/m')).toContain(
      'PostgreSQL at 127.0.0.1:1, 127.0.0.1:2 cannot be used: Failed to connect.',
    )
  })

  test('a port where something else listens', async () => {
    using other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    expect(await explanationOf(`postgres://u@127.0.0.1:${other.port}/m`)).toContain('it does not answer')
  })

  test('a wrong password, user or database', async () => {
    expect(await explanationOf(urlOf('protected:wrong-password', 'postgres'))).toContain('correct the password')
    expect(await explanationOf(urlOf('nobody', 'postgres'))).toContain('correct the user')
    expect(await explanationOf(server().url('missing'))).toContain('correct the name of the database')
  })

  test('an old version of PostgreSQL', async () => {
    using old = oldPostgres(140_011)
    expect(await explanationOf(old.url)).toContain('The server has PostgreSQL 14. Millrace needs version 15 or later.')
  })

  test('a database with another encoding, which stays empty', async () => {
    await admin("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    expect(await explanationOf(server().url('latin'))).toContain('stores texts as LATIN1. Create one with')
    expect(await queryPostgres(server().url('latin'), schemas)).toEqual([])
  })

  test('too few rights', async () => {
    const url = await server().createDatabase()
    const strange = url.replace('postgres@', 'stranger@')
    expect(await explanationOf(strange)).toContain('GRANT CREATE ON DATABASE')
    expect(await queryPostgres(url, schemas)).toEqual([])
    expect((await run(url, ['init'])).code).toBe(0)
    expect(await explanationOf(strange)).toContain('may not use the schema "millrace"')
  })

  test('a schema of a newer version, which stays as it is', async () => {
    const url = await server().createDatabase()
    expect((await run(url, ['init'])).code).toBe(0)
    await queryPostgres(url, 'INSERT INTO millrace.migrations (number, applied_at) VALUES (999, now())')
    const select = `
      SELECT (SELECT count(*) FROM pg_class) AS tables, (SELECT count(*) FROM millrace.migrations) AS migrations,
        (SELECT count(*) FROM millrace.processes) AS processes`
    const before = await queryPostgres(url, select)
    expect(await explanationOf(url)).toContain('has schema 999, but this version of Millrace knows only')
    expect(await queryPostgres(url, select)).toEqual(before)
  })

  test('a certificate of another authority, or for another host', async () => {
    const url = server().url('postgres')
    expect(await explanationOf(`${url}?sslmode=verify-full`)).toContain('Check sslmode and sslrootcert')
    const otherHost = url.replace('127.0.0.1', 'localhost')
    expect(await explanationOf(`${otherHost}?sslmode=verify-full&sslrootcert=${authority}`)).toContain('altnames')
  })

  test('a missing or wrong certificate of its own', async () => {
    const url = urlOf('certified', 'postgres')
    expect(await explanationOf(`${url}?sslmode=require`)).toContain('connection requires a valid client certificate')
    expect(await explanationOf(`${url}?sslmode=disable`)).toContain('sslmode, sslcert and sslkey in MILLRACE_STORE')
    expect(await explanationOf(`${urlOf('stranger', 'postgres')}?sslmode=require&${clientCertificate}`)).toContain(
      'GRANT CREATE ON DATABASE',
    )
  })

  test('a pooler that does not keep prepared statements', async () => {
    await using pooler = await PgBouncer.start(server())
    const url = pooler.url(await server().createDatabase())
    expect(await explanationOf(url)).toContain('Write MILLRACE_STORE with the parameter prepare=false')
    expect((await run(`${url}?prepare=false`, ['init'])).code).toBe(0)
  })
})

const schemas = "SELECT 1 FROM pg_namespace WHERE nspname = 'millrace'"

test('a user with a certificate needs no password', async () => {
  using folder = temporaryFolder()
  await admin('CREATE DATABASE certified OWNER certified')
  const store = `${urlOf('certified', 'certified')}?sslmode=verify-full&sslrootcert=${authority}&${clientCertificate}`
  const service = await serve(folder.path, { MILLRACE_STORE: store, MILLRACE_SECRET_KEY: 'x'.repeat(40) })
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
  expect(await service.kill('SIGTERM')).toBe(0)
})

const commands = [
  'init',
  'keys create --name k',
  'keys list',
  'keys revoke k',
  'users create a@example.org',
  'users list',
  'users password a@example.org',
  'users link a@example.org',
  'users plan a@example.org pro',
  'workspaces create --name w',
  'workspaces list',
  'workspaces share w a@example.org --role viewer',
  'workspaces unshare w a@example.org',
  'env set NAME',
  'env list',
  'env unset NAME',
  'env rotate',
  'env discard',
  'processes list',
  'drain p',
]

test.each(commands)('millrace %s explains that PostgreSQL cannot be used, and exits with 1', async (words) => {
  const ended = await run('postgres://u:wrong-password@127.0.0.1:1/m', words.split(' '))
  expect(ended).toEqual({
    ...{ code: 1, out: '', files: [] },
    words:
      'millrace: PostgreSQL at 127.0.0.1:1 cannot be used: Failed to connect. Check MILLRACE_STORE and the server.\n',
  })
})

test('millrace doctor reports that PostgreSQL cannot be used, and exits with 1', async () => {
  const ended = await run('postgres://u:wrong-password@127.0.0.1:1/m', ['doctor'])
  expect(ended).toMatchObject({ code: 1, files: [] })
  expect(ended.out).toMatch(/BROKEN\s+database\s+PostgreSQL at 127.0.0.1:1 cannot be used/)
  expect(ended.out + ended.words).not.toContain('wrong-password')
})
