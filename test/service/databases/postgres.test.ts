import { describe, expect, test } from 'bun:test'
import { TestDatabases } from '../../support/databases/clients.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'

const server = postgresServer({
  certificates: 'test/support/certificates',
  rules: ['host all secured 127.0.0.1/32 scram-sha-256'],
})

async function databases(fields: Record<string, unknown> = {}, secrets: Record<string, string> = {}) {
  const database = new URL(await server().createDatabase()).pathname.slice(1)
  const plain = { engine: 'postgres', host: '127.0.0.1', port: String(server().port), user: 'postgres', tls: 'off' }
  return new TestDatabases({ db: { fields: { ...plain, database, ...fields }, secrets } })
}

describe('a query on PostgreSQL', () => {
  test('gives every type a JSON form that loses nothing', async () => {
    await using db = await databases()
    const { rows, columns, count, hasMore } = await db.sql(
      `SELECT 7::int2 AS small, 9007199254740991::int8 AS safe, 9223372036854775807::int8 AS big,
        1.10::numeric AS exact, 1.5::float8 AS float, 'NaN'::float8 AS nan, true AS yes, NULL AS nothing,
        '2026-01-02'::date AS day, '2026-01-02 03:04:05.678901'::timestamp AS local,
        '2026-01-02 03:04:05.5+02'::timestamptz AS instant, '\\x00ff'::bytea AS bytes, '{"a":[1,null]}'::jsonb AS json,
        ARRAY[1,2,NULL]::int8[] AS list, ARRAY['a,b','"q"',NULL,'NULL','']::text[] AS texts,
        '{{1,2},{3,4}}'::int4[] AS matrix, gen_random_uuid() IS NOT NULL AS uuid, interval '1 day 2 hours' AS time,
        1 AS "__proto__", 'ä' AS "ключ"`,
    )
    expect(rows).toEqual([
      Object.fromEntries([
        ...Object.entries({ small: 7, safe: 9007199254740991, big: '9223372036854775807', exact: '1.10', float: 1.5 }),
        ...Object.entries({ nan: 'NaN', yes: true, nothing: null, day: '2026-01-02' }),
        ...Object.entries({ local: '2026-01-02T03:04:05.678901', instant: '2026-01-02T01:04:05.5Z', bytes: 'AP8=' }),
        ...Object.entries({ json: { a: [1, null] }, list: [1, 2, null], texts: ['a,b', '"q"', null, 'NULL', ''] }),
        ...Object.entries({
          matrix: [
            [1, 2],
            [3, 4],
          ],
          uuid: true,
          time: 'P1DT2H',
        }),
        ['__proto__', 1],
        ['ключ', 'ä'],
      ]),
    ])
    expect(columns.slice(0, 3)).toEqual([
      { name: 'small', type: 'int2' },
      { name: 'safe', type: 'int8' },
      { name: 'big', type: 'int8' },
    ])
    expect({ count, hasMore }).toEqual({ count: 1, hasMore: false })
  })

  test('binds every kind of parameter', async () => {
    await using db = await databases()
    const params = ["Robert'); DROP TABLE x;--", 42, true, null, { a: "'" }, [1, 2], [{ b: 1 }], ['x', '"y"']]
    const query =
      'SELECT $1::text a, $2::int b, $3::bool c, $4::text d, $5::jsonb e, $6::int[] f, $7::jsonb g, $8::text[] h'
    const { rows } = await db.sql(query, { params })
    expect(Object.values(rows[0]!)).toEqual(params)
    expect((await db.sql('SELECT $1::jsonb AS list', { params: [[1, 'a']] })).rows).toEqual([{ list: [1, 'a'] }])
  })

  test('reads no more rows than it should, however many there are', async () => {
    await using db = await databases()
    const endless = 'SELECT generate_series(1, 1000000000) AS n'
    const result = await db.sql(endless, { maxRows: 1_234 })
    expect(result).toMatchObject({ count: 1_234, hasMore: true })
    expect(result.rows.at(-1)).toEqual({ n: 1_234 })
    expect(await db.sql(endless, { mode: 'one' })).toMatchObject({ rows: [{ n: 1 }], hasMore: true })
    expect(await db.sql('SELECT n FROM generate_series(1, 1000) n')).toMatchObject({ count: 1_000, hasMore: false })
    expect(await db.sql('SELECT 1 WHERE false', { mode: 'one' })).toMatchObject({ rows: [], count: 0 })
    // All of that on one connection.
    expect(db.clients.size).toBe(1)
  })

  test('fails when its rows are too large', async () => {
    await using db = await databases()
    const large = "SELECT repeat('x', 1000000) FROM generate_series(1, 1000)"
    await expect(db.sql(large)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.stringContaining('sent more than is accepted'),
    })
    const wide = `SELECT ${Array.from({ length: 500 }, (_, index) => `1 AS c${index}`)} FROM generate_series(1, 1000)`
    await expect(db.sql(wide)).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
  })

  test('counts the rows that it changes', async () => {
    await using db = await databases()
    await db.sql('CREATE TABLE t (id serial PRIMARY KEY, name text)', { mode: 'execute' })
    const insert = "INSERT INTO t (name) SELECT 'n' || n FROM generate_series(1, 5) n"
    expect(await db.sql(insert, { mode: 'execute' })).toMatchObject({ count: 5, rows: [] })
    const returning = 'UPDATE t SET name = $1 WHERE id > 3 RETURNING id'
    expect(await db.sql(returning, { params: ['x'] })).toMatchObject({ count: 2, rows: [{ id: 4 }, { id: 5 }] })
    expect(await db.sql('DELETE FROM t', { mode: 'execute' })).toMatchObject({ count: 5 })
  })
})

describe('a transaction', () => {
  test('changes everything or nothing', async () => {
    await using db = await databases()
    await db.sql('CREATE TABLE accounts (id int PRIMARY KEY, balance int CHECK (balance >= 0))', { mode: 'execute' })
    await db.sql('INSERT INTO accounts VALUES (1, 10), (2, 0)', { mode: 'execute' })
    const move = `UPDATE accounts SET balance = balance + $1 WHERE id = $3; -- first; gets it
      UPDATE accounts SET balance = balance - $1 WHERE id = $2;
      SELECT id, balance FROM accounts ORDER BY id`
    const moved = await db.sql(move, { mode: 'transaction', params: [4, 1, 2] })
    expect(moved).toMatchObject({
      count: 2,
      rows: [
        { id: 1, balance: 6 },
        { id: 2, balance: 4 },
      ],
    })
    await expect(db.sql(move, { mode: 'transaction', params: [7, 1, 2] })).rejects.toMatchObject({
      code: 'SQL_ERROR',
      message: expect.stringContaining('Statement 2 failed'),
      facts: { sqlState: '23514', statement: 2 },
    })
    expect((await db.sql('SELECT sum(balance)::int AS sum, max(balance) FROM accounts')).rows).toEqual([
      { sum: 10, max: 6 },
    ])
  })

  test('cannot be left half done by its own statements', async () => {
    await using db = await databases()
    for (const word of ['COMMIT', 'rollback', 'BEGIN', 'END', 'savepoint a', "PREPARE TRANSACTION 'x'"]) {
      const attempt = db.sql(`CREATE TABLE x (a int); ${word}; SELECT 1`, { mode: 'transaction' })
      await expect(attempt).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    }
    await expect(db.sql('BEGIN')).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    await expect(db.sql('SELECT 1; SELECT 2')).rejects.toMatchObject({
      message: expect.stringContaining('need the mode "transaction"'),
    })
    expect((await db.sql("SELECT to_regclass('x') AS x")).rows).toEqual([{ x: null }])
  })
})

describe('an error of PostgreSQL', () => {
  test('says where in the query it is', async () => {
    await using db = await databases()
    const query = "SELECT 1 AS ä,\n  'ö' AS b, missing FROM pg_class"
    await expect(db.sql(query)).rejects.toMatchObject({
      code: 'SQL_ERROR',
      message: 'The query failed at line 2, column 13: column "missing" does not exist (42703)',
      facts: { sqlState: '42703', position: { line: 2, column: 13 }, statement: 1 },
    })
    const second = db.sql('SELECT 1;\n\nSELEC 2', { mode: 'transaction' })
    await expect(second).rejects.toMatchObject({ facts: { position: { line: 3, column: 1 }, statement: 2 } })
  })

  test('of the connection names the reason and no password', async () => {
    const admin = await databases()
    await admin.sql("CREATE ROLE secured LOGIN PASSWORD 'right'", { mode: 'execute' })
    await using db = await databases({ user: 'secured' }, { password: 'wrong-password' })
    const refused = await db.sql('SELECT 1').catch((error) => error)
    expect(refused).toMatchObject({ code: 'CREDENTIAL_FAILED', facts: { sqlState: '28P01' } })
    expect(refused.message).not.toContain('wrong-password')
    await using right = await databases({ user: 'secured' }, { password: 'right' })
    expect((await right.sql('SELECT current_user::text AS me')).rows).toEqual([{ me: 'secured' }])
    await using nowhere = await databases({ port: '1' })
    await expect(nowhere.sql('SELECT 1')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: '127.0.0.1:1 refused the connection.',
    })
    await admin[Symbol.asyncDispose]()
  })
})

describe('TLS', () => {
  test('verifies the certificate for the name of the host', async () => {
    const authority = await Bun.file('test/support/certificates/authority.pem').text()
    const query = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    for (const host of ['service.example', '127.0.0.1']) {
      await using verified = await databases({ host, tls: 'verify', authority })
      expect((await verified.sql(query)).rows).toEqual([{ ssl: true }])
    }
    for (const fields of [{ tls: '' }, { host: 'localhost', authority }, { host: 'other.example', authority }]) {
      await using refused = await databases({ tls: 'verify', ...fields })
      await expect(refused.sql(query)).rejects.toMatchObject({
        code: 'CONNECTION_FAILED',
        message: expect.stringContaining('was not accepted'),
      })
    }
    await using encrypted = await databases({ tls: 'require' })
    expect((await encrypted.sql(query)).rows).toEqual([{ ssl: true }])
  })
})

describe('a statement that takes long', () => {
  const active =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(50%' AND state = 'active'"

  test('is stopped on the server when its time is up', async () => {
    await using db = await databases()
    await expect(db.sql('SELECT pg_sleep(50), 1', { timeoutMs: 500 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await untilNone(db)
  })

  test('is stopped on the server when its run is cancelled', async () => {
    await using db = await databases()
    const cancel = new AbortController()
    const waiting = db.sql('SELECT pg_sleep(50), 2', { signal: cancel.signal }).catch((error) => error)
    while ((await db.sql(active)).rows[0]!['n'] !== 1) await Bun.sleep(20)
    cancel.abort()
    expect(await waiting).toMatchObject({ code: 'CANCELLED' })
    await untilNone(db)
    // Its connection is not used again.
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
  })

  test('fails when the server dies, and the next one works on a new connection', async () => {
    await using db = await databases()
    const waiting = db.sql('SELECT pg_sleep(50), 3').catch((error) => error)
    while ((await db.sql(active)).rows[0]!['n'] !== 1) await Bun.sleep(20)
    await db.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(50), 3%'")
    expect(await waiting).toMatchObject({ code: expect.stringMatching(/CONNECTION_FAILED|SQL_ERROR/) })
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
  })

  async function untilNone(db: TestDatabases): Promise<void> {
    while ((await db.sql(active)).rows[0]!['n'] !== 0) await Bun.sleep(20)
  }
})

describe('connections', () => {
  test('are few, are closed when the credential changes, and when they are idle', async () => {
    await using db = await databases()
    await Promise.all(Array.from({ length: 20 }, () => db.sql('SELECT pg_sleep(0.02)')))
    expect(db.clients.size).toBe(5)
    const { fields } = db.credentials.get('db')!
    db.credentials.set('db', { fields: { ...fields, user: 'postgres ' } })
    await db.sql('SELECT 1')
    expect(db.clients.size).toBe(1)
  })

  test('that changed their session are not used again', async () => {
    await using db = await databases()
    await db.sql("SET search_path = 'nowhere'", { mode: 'execute' })
    expect((await db.sql('SHOW search_path')).rows).not.toEqual([{ search_path: 'nowhere' }])
  })
})
