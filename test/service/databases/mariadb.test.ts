import { describe, expect, test } from 'bun:test'
import { TestDatabases } from '../../support/databases/clients.ts'
import { mariadbServer } from '../../support/databases/mariadb-server.ts'

const server = mariadbServer()
let databasesMade = 0

async function databases(fields: Record<string, unknown> = {}, password = 'secret') {
  const plain = { engine: 'mysql', host: '127.0.0.1', port: String(server().port), user: 'tester', tls: 'off' }
  databasesMade += 1
  const database = `test_${databasesMade}`
  await using admin = new TestDatabases({ db: { fields: plain, secrets: { password: 'secret' } } })
  await admin.sql(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`, { mode: 'execute' })
  return new TestDatabases({ db: { fields: { ...plain, database, ...fields }, secrets: { password } } })
}

describe('a query on MariaDB', () => {
  test('gives every type a JSON form that loses nothing', async () => {
    await using db = await databases()
    await db.sql(
      `CREATE TABLE t (small tinyint, safe bigint, big bigint unsigned, exact decimal(5,2), num double, yes boolean,
        day date, at datetime(3), stamp timestamp(6) NULL, hours time, bytes varbinary(9), pic blob, bits bit(5),
        doc json, word varchar(20), kind enum('a','b'))`,
      { mode: 'execute' },
    )
    const params = [
      ...[7, 9007199254740991, '18446744073709551615', '1.10', 1.5, true, '2026-01-02', '2026-01-02 03:04:05.678'],
      ...['2026-01-02 03:04:05.123456', '25:00:00', null, 'x', 5, { a: [1] }, 'Zoë 🎉', 'b'],
    ]
    const places = params.map(() => '?').join(', ')
    expect(await db.sql(`INSERT INTO t VALUES (${places})`, { params, mode: 'execute' })).toMatchObject({ count: 1 })
    const { rows, columns } = await db.sql('SELECT t.*, 1 AS `__proto__` FROM t')
    expect(rows).toEqual([
      Object.fromEntries([
        ...Object.entries({ small: 7, safe: 9007199254740991, big: '18446744073709551615', exact: '1.10', num: 1.5 }),
        ...Object.entries({ yes: 1, day: '2026-01-02', at: '2026-01-02T03:04:05.678' }),
        ...Object.entries({ stamp: '2026-01-02T03:04:05.123456Z', hours: '25:00:00', bytes: null, pic: 'eA==' }),
        ...Object.entries({ bits: 5, doc: { a: [1] }, word: 'Zoë 🎉', kind: 'b' }),
        ['__proto__', 1],
      ]),
    ])
    expect(columns.map(({ type }) => type).slice(1, 4)).toEqual(['bigint', 'bigint', 'decimal'])
    expect(columns.find(({ name }) => name === 'doc')?.type).toBe('json')
  })

  test('binds values, also those of LIMIT', async () => {
    await using db = await databases()
    const params = ["Robert'); DROP TABLE x;--", 42, null, '\\', 'ä']
    const { rows } = await db.sql('SELECT ? a, ? b, ? c, ? d, ? e', { params })
    expect(Object.values(rows[0]!)).toEqual(params)
    await db.sql('CREATE TABLE n (a int)', { mode: 'execute' })
    await db.sql('INSERT INTO n VALUES (1), (2), (3)', { mode: 'execute' })
    const limited = await db.sql('SELECT a FROM n ORDER BY a LIMIT ? OFFSET ?', { params: [2, 1] })
    expect(limited.rows).toEqual([{ a: 2 }, { a: 3 }])
  })

  test('reads no more rows than it should, however many there are', async () => {
    await using db = await databases()
    const many = 'SELECT seq FROM seq_1_to_1000000000'
    const result = await db.sql(many, { maxRows: 1_234 })
    expect(result).toMatchObject({ count: 1_234, hasMore: true })
    expect(await db.sql(many, { mode: 'one' })).toMatchObject({ rows: [{ seq: 1 }], hasMore: true })
    expect(await db.sql('SELECT seq FROM seq_1_to_1000')).toMatchObject({ count: 1_000, hasMore: false })
    const wide = `SELECT ${Array.from({ length: 500 }, (_, index) => `1 AS c${index}`)} FROM seq_1_to_1000`
    await expect(db.sql(wide)).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    const large = "SELECT repeat('x', 1000000) FROM seq_1_to_900"
    await expect(db.sql(large)).rejects.toMatchObject({ message: expect.stringContaining('more than is accepted') })
    expect((await db.sql('SHOW TABLES')).rows).toEqual([])
  })
})

describe('a transaction', () => {
  test('changes everything or nothing', async () => {
    await using db = await databases()
    const table = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int CHECK (balance >= 0)) ENGINE = InnoDB'
    await db.sql(table, { mode: 'execute' })
    await db.sql('INSERT INTO accounts VALUES (1, 10), (2, 0)', { mode: 'execute' })
    const move = `UPDATE accounts SET balance = balance + ? WHERE id = ?; -- first; gets it
      UPDATE accounts SET balance = balance - ? WHERE id = ?;
      SELECT id, balance FROM accounts ORDER BY id`
    const moved = await db.sql(move, { mode: 'transaction', params: [4, 2, 4, 1] })
    expect(moved).toMatchObject({
      count: 2,
      rows: [
        { id: 1, balance: 6 },
        { id: 2, balance: 4 },
      ],
    })
    const failing = db.sql(move, { mode: 'transaction', params: [7, 2, 7, 1] })
    await expect(failing).rejects.toMatchObject({ code: 'SQL_ERROR', facts: { statement: 2, errno: 4025 } })
    expect((await db.sql('SELECT max(balance) AS max FROM accounts')).rows).toEqual([{ max: 6 }])
  })
})

describe('an error of MariaDB', () => {
  test('says where in the query it is', async () => {
    await using db = await databases()
    await expect(db.sql('SELECT 1,\n  2\n FRO x')).rejects.toMatchObject({
      code: 'SQL_ERROR',
      message: expect.stringMatching(/^The query failed at line 3: You have an error .* \(1064\)$/),
      facts: { sqlState: '42000', errno: 1064, position: { line: 3 }, statement: 1 },
    })
  })

  test('of the connection names the reason and no password', async () => {
    await using db = await databases({}, 'not-the-password')
    const refused = (await db.sql('SELECT 1').catch((error) => error)) as Error
    expect(refused).toMatchObject({ code: 'CREDENTIAL_FAILED', facts: { errno: 1045 } })
    expect(refused.message).not.toContain('not-the-password')
    await using missing = await databases({ database: 'nowhere' })
    await expect(missing.sql('SELECT 1')).rejects.toMatchObject({ code: 'CREDENTIAL_FAILED', facts: { errno: 1049 } })
  })
})

describe('TLS', () => {
  test('verifies the certificate for the name of the host', async () => {
    const authority = await Bun.file('test/support/certificates/authority.pem').text()
    const query = "SHOW STATUS LIKE 'Ssl_cipher'"
    for (const fields of [
      { host: 'service.example', tls: 'verify', authority },
      { host: '127.0.0.1', tls: 'verify', authority },
      { tls: 'require' },
    ]) {
      await using encrypted = await databases(fields)
      expect((await encrypted.sql(query)).rows[0]!['Value']).not.toBe('')
    }
    for (const fields of [{ tls: '' }, { host: 'localhost', authority }, { host: 'other.example', authority }]) {
      await using refused = await databases({ tls: 'verify', ...fields })
      await expect(refused.sql(query)).rejects.toMatchObject({
        code: 'CONNECTION_FAILED',
        message: expect.stringContaining('was not accepted'),
      })
    }
  })
})

describe('a statement that takes long', () => {
  const active = "SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(50)%'"

  test('is stopped on the server when its time is up or its run is cancelled', async () => {
    await using db = await databases()
    await expect(db.sql('SELECT SLEEP(50), 1', { timeoutMs: 500 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await until(db, 0)
    const cancel = new AbortController()
    const waiting = db.sql('SELECT SLEEP(50), 2', { signal: cancel.signal }).catch((error) => error)
    await until(db, 1)
    cancel.abort()
    expect(await waiting).toMatchObject({ code: 'CANCELLED' })
    await until(db, 0)
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
  })

  test('fails when the server dies, and the next one works on a new connection', async () => {
    await using db = await databases()
    const waiting = db.sql('SELECT SLEEP(50), 3').catch((error) => error)
    await until(db, 1)
    await server().kill()
    expect(await waiting).toMatchObject({ code: 'CONNECTION_FAILED' })
    await server().run()
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
  })

  async function until(db: TestDatabases, count: number): Promise<void> {
    while ((await db.sql(active)).rows[0]!['n'] !== count) await Bun.sleep(20)
  }
})
