import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestDatabases } from '../../support/databases/clients.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-sqlite-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const folder = join(root, 'allowed')
const data = join(folder, 'data')
mkdirSync(data, { recursive: true })
let files = 0

function databases(path = join(folder, `${files++}.db`), folders = [folder]) {
  return new TestDatabases({ db: { fields: { engine: 'sqlite', database: path } } }, { folders, data })
}

describe('a query on SQLite', () => {
  test('gives every type a JSON form that loses nothing, and binds values', async () => {
    await using db = databases()
    await db.sql('CREATE TABLE t (id integer PRIMARY KEY, big integer, name text, pic blob)', { mode: 'execute' })
    const params = [1, '9223372036854775807', "Robert'); DROP TABLE t;--", null]
    expect(await db.sql('INSERT INTO t VALUES (?, ?, ?, ?)', { params, mode: 'execute' })).toMatchObject({ count: 1 })
    const { rows, columns } = await db.sql("SELECT *, x'00ff' AS bytes, 1.5 AS num, 9e999 AS inf FROM t")
    const row = { id: 1, big: '9223372036854775807', name: "Robert'); DROP TABLE t;--", pic: null }
    expect(rows).toEqual([{ ...row, bytes: 'AP8=', num: 1.5, inf: 'Infinity' }])
    expect(columns.slice(0, 3)).toEqual([
      { name: 'id', type: 'integer' },
      { name: 'big', type: 'integer' },
      { name: 'name', type: 'text' },
    ])
    const returned = await db.sql('UPDATE t SET name = ? WHERE id = ? RETURNING name', { params: [{ a: 1 }, 1] })
    expect(returned).toMatchObject({ rows: [{ name: '{"a":1}' }], count: 1 })
    expect(await db.sql('DELETE FROM t WHERE id = 5', { mode: 'execute' })).toMatchObject({ count: 0 })
  })

  test('reads no more rows than it should, and fails when they are too large', async () => {
    await using db = databases()
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'
    expect(await db.sql(endless, { maxRows: 1_234 })).toMatchObject({ count: 1_234, hasMore: true })
    expect(await db.sql(endless, { mode: 'one' })).toMatchObject({ rows: [{ i: 1 }], hasMore: true })
    const large = endless.replace('SELECT i FROM', 'SELECT hex(zeroblob(500000)) AS x FROM')
    await expect(db.sql(large)).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    const values = endless.replace(
      'SELECT i FROM',
      `SELECT ${Array.from({ length: 500 }, (_, at) => `1 AS c${at}`)} FROM`,
    )
    await expect(db.sql(values)).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    const hungry = db.sql('SELECT length(hex(zeroblob(450000000)))')
    await expect(hungry).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
  }, 30_000)

  test('that never ends is stopped with its process', async () => {
    await using db = databases()
    const forever = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n'
    await expect(db.sql(forever, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    const cancel = new AbortController()
    const waiting = db.sql(forever, { signal: cancel.signal }).catch((error) => error)
    await Bun.sleep(300)
    cancel.abort()
    expect(await waiting).toMatchObject({ code: 'CANCELLED' })
    expect(await db.sql('SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] })
    while (db.clients.size > 1) await Bun.sleep(10)
  }, 30_000)

  test('names the place of an error', async () => {
    await using db = databases()
    await expect(db.sql("SELECT 'ä',\n  missing")).rejects.toMatchObject({
      message: 'The query failed at line 2, column 3: no such column: missing (SQLITE_ERROR)',
      facts: { position: { line: 2, column: 3 }, statement: 1 },
    })
  })
})

test('a transaction on SQLite changes everything or nothing', async () => {
  await using db = databases()
  await db.sql('CREATE TABLE a (id integer PRIMARY KEY, n integer CHECK (n >= 0))', { mode: 'execute' })
  await db.sql('INSERT INTO a VALUES (1, 10), (2, 0)', { mode: 'execute' })
  const move = 'UPDATE a SET n = n + ? WHERE id = 2; UPDATE a SET n = n - ? WHERE id = 1; SELECT n FROM a ORDER BY id'
  const moved = await db.sql(move, { mode: 'transaction', params: [4, 4] })
  expect(moved).toMatchObject({ count: 2, rows: [{ n: 6 }, { n: 4 }] })
  const failing = db.sql(move, { mode: 'transaction', params: [7, 7] })
  await expect(failing).rejects.toMatchObject({ code: 'SQL_ERROR', facts: { statement: 2 } })
  expect((await db.sql('SELECT sum(n) AS sum, max(n) AS max FROM a')).rows).toEqual([{ sum: 10, max: 6 }])
})

describe('a SQLite file', () => {
  test('is opened below the allowed folders only, whatever its path looks like', async () => {
    const outside = join(root, 'outside.db')
    new Database(outside).run('CREATE TABLE secret (a)')
    new Database(join(data, 'millrace.db')).run('CREATE TABLE secret (a)')
    symlinkSync(outside, join(folder, 'link.db'))
    symlinkSync(root, join(folder, 'up'))
    for (const path of [
      ...[outside, join(folder, 'link.db'), join(folder, 'up', 'outside.db'), `${folder}/../outside.db`, 'outside.db'],
      ...[join(data, 'millrace.db'), join(data, 'new.db'), `file:${outside}`, ':memory:', '', folder, '/etc/passwd'],
      ...[`${folder}x.db`, join(folder, 'missing', 'x.db'), join(folder, 'up', 'new.db')],
    ]) {
      await using db = databases(path)
      const error = await db.sql('SELECT * FROM secret').catch((thrown) => thrown)
      expect([path, error.code]).toEqual([path, 'ADDRESS_REFUSED'])
    }
    await using none = databases(join(folder, 'x.db'), [])
    await expect(none.sql('SELECT 1')).rejects.toMatchObject({
      message: expect.stringContaining('MILLRACE_SQLITE_FOLDERS'),
    })
  })

  test('reaches no other file and no code', async () => {
    await using db = databases()
    const outside = join(root, 'outside.db')
    const attacks = [
      `ATTACH '${outside}' AS o`,
      `/* x */ attach '${outside}' AS o`,
      `VACUUM INTO '${join(folder, 'copy.db')}'`,
      "SELECT load_extension('libc.so.6')",
      "SELECT readfile('/etc/passwd')",
      "SELECT writefile('/tmp/x', 'x')",
      "SELECT * FROM fsdir('/')",
      'PRAGMA hard_heap_limit = 0',
      "SELECT fts3_tokenizer('simple', x'00')",
    ]
    for (const attack of attacks) {
      await expect(db.sql(attack)).rejects.toMatchObject({ code: expect.stringMatching(/SQL_ERROR|INVALID_QUERY/) })
    }
    await expect(db.sql(`SELECT 1; ATTACH '${outside}' AS o`, { mode: 'transaction' })).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    })
  })

  test('that is not a database fails with a clear error', async () => {
    const path = join(folder, 'text.db')
    writeFileSync(path, 'This is a text, and it is long enough to have the header of a database. '.repeat(20))
    await using db = databases(path)
    await expect(db.sql('SELECT 1')).rejects.toMatchObject({
      code: 'SQL_ERROR',
      message: expect.stringContaining('file is not a database'),
    })
  })
})
