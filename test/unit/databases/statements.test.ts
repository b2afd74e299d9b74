import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkStatements, statementsOf } from '../../../src/databases/sql/statements.ts'
import type { SqlEngine } from '../../../src/domain/database/sql.ts'

const textsOf = (query: string, engine: SqlEngine, params: readonly unknown[] = []) =>
  statementsOf(query, params, engine).map(({ text }) => text)

describe('a query', () => {
  test('is divided at semicolons, but not at those in strings, names and comments', () => {
    const postgres = [
      `SELECT ';', E'\\';', ";""", $$;$$, $a$ $$;$a$, a$1`,
      '-- ;\nUPDATE t SET a = 1 /* ; /* ; */ ; */ WHERE b',
      'SELECT 1',
    ]
    expect(textsOf(`;;${postgres.join(' ; ')};\n-- the end;`, 'postgres')).toEqual(postgres)
    const mysql = ["SELECT ';', '\\';', \";\", `;`", '# ;\nSELECT 1 -- ;\n+ 2', 'SELECT 1--2']
    expect(textsOf(mysql.join(';'), 'mysql')).toEqual(mysql)
    const sqlite = ["SELECT ';', '\\', \";\", [;], `;`", '/* ; */ SELECT 1']
    expect(textsOf(sqlite.join(';'), 'sqlite')).toEqual(sqlite)
  })

  test('gives each statement the values of its own placeholders', () => {
    const query = "SELECT $2, '$9' ; SELECT $3, $1, $3"
    expect(statementsOf(query, ['a', 'b', 'c'], 'postgres')).toMatchObject([
      { text: "SELECT $1, '$9'", values: ['b'], offset: 0, number: 1, keyword: 'SELECT' },
      { text: 'SELECT $1, $2, $1', values: ['c', 'a'], offset: 18, number: 2 },
    ])
    expect(statementsOf("DELETE FROM t WHERE a = ? AND b = '?'; select ?, ?", [1, 2, 3], 'sqlite')).toMatchObject([
      { values: [1], keyword: 'DELETE' },
      { values: [2, 3], keyword: 'SELECT' },
    ])
  })

  test('must have as many placeholders as values', () => {
    const attempts = [
      ['SELECT $1', []],
      ['SELECT 1', [1]],
      ['SELECT $0', [1]],
      ["SELECT '$1'", [1]],
      ['SELECT $1', [1, 2]],
    ] as const
    for (const [query, params] of attempts) expect(() => statementsOf(query, params, 'postgres')).toThrow(/params/)
    for (const query of ['SELECT 1', "SELECT '?'", 'SELECT ?, ?', 'SELECT 1 -- ?', 'SELECT `?`'])
      expect(() => statementsOf(query, [1], 'mysql')).toThrow(/one value for each placeholder/)
    for (const query of ['', '  ;;', '-- nothing', '/* ']) expect(() => statementsOf(query, [], 'postgres')).toThrow()
  })

  test('of any characters is divided without losing one, in linear time', () => {
    const piece = fc.constantFrom(
      "'",
      '"',
      '`',
      '$$',
      '$a$',
      '/*',
      '*/',
      '--',
      '#',
      '\n',
      ';',
      '\\',
      'E',
      '[',
      ']',
      ' ',
      'x',
      '$1',
    )
    fc.assert(
      fc.property(
        fc.array(piece),
        fc.constantFrom('postgres' as const, 'mysql' as const, 'sqlite' as const),
        (pieces, engine) => {
          const query = `a${pieces.join('')}`.replaceAll('$1', engine === 'postgres' ? '' : '$1')
          const statements = statementsOf(query, [], engine)
          for (const { text, offset } of statements) expect(query.slice(offset, offset + text.length)).toBe(text)
          const rest = statements.reduceRight(
            (left, { text, offset }) => left.slice(0, offset) + left.slice(offset + text.length),
            query,
          )
          // Only semicolons, spaces and comments are left.
          expect(rest).toMatch(/^(?:[\s;]|--.*|#.*|\/\*[\s\S]*)*$/)
        },
      ),
    )
    const startedAt = performance.now()
    for (const engine of ['postgres', 'mysql', 'sqlite'] as const) {
      for (const part of ["'", "'\\", '"', '/*', '$$', '$a', '--\n', "''", '[', ';', '\\'])
        statementsOf(`a ${part.repeat(100_000 / part.length)}`, [], engine)
    }
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })
})

describe('statements', () => {
  const check = (query: string, mode: 'rows' | 'transaction', engine: SqlEngine) =>
    checkStatements(statementsOf(query, [], engine), mode, engine)

  test('that MySQL commits by itself cannot be part of a transaction', () => {
    for (const query of [
      'CREATE TABLE t (a int)',
      'TRUNCATE t',
      'SET autocommit = 1',
      '/*! COMMIT */',
      'CALL p()',
      'xa end',
    ])
      expect(() => check(`SELECT 1; ${query}`, 'transaction', 'mysql')).toThrow(/transaction/)
    check('(SELECT 1) UNION (SELECT 2); WITH a AS (SELECT 1) SELECT * FROM a', 'transaction', 'mysql')
    check('CREATE TABLE t (a int)', 'rows', 'mysql')
  })

  test('that reach other files cannot run on SQLite', () => {
    for (const query of ["ATTACH 'x' AS y", '/* */ detach y', 'PRAGMA user_version', "VACUUM INTO 'x'"])
      expect(() => check(query, 'rows', 'sqlite')).toThrow(/one database file/)
  })
})
