import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { statementsOf } from '../../../../src/databases/sql/statements.ts'
import { parseTemplate } from '../../../../src/domain/workflow/reference.ts'
import { bindReferences } from '../../../../src/sim/import/databases/bind-references.ts'
import { importSim } from '../../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../../support/sim/files.ts'

const server = {
  ...{ host: 'db.example.com', port: '5432', database: 'shop', username: 'ada', password: 'open sesame' },
  ssl: 'required',
}

function imported(type: string, values: Record<string, unknown>) {
  const blocks = [
    simBlock('start', 'start_trigger', {}, { name: 'Start' }),
    simBlock('b', type, { ...server, ...values }, { name: 'Orders' }),
    simBlock('after', 'function', { code: 'return <orders.rows> + <orders.rowCount>' }, { name: 'After' }),
  ]
  const result = importSim(simFile(blocks, ['start > b', 'b > after']))
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  expect(JSON.stringify(result)).not.toContain('open sesame')
  return { ...result, block: result.document.blocks['b']! }
}

function bound(query: string, dialect: 'postgres' | 'mysql' = 'postgres') {
  return bindReferences(query, { dialect, names: new Set(['start', 'other']) })
}

describe('a database block of Sim', () => {
  test('becomes an SQL block with a credential, and pasted references become parameters', () => {
    const { block, document, credentials, notes } = imported('postgresql', {
      operation: 'query',
      query: "SELECT * FROM orders WHERE total > <start.least> AND name LIKE '%<start.name>%' LIMIT 10",
    })
    expect(block).toMatchObject({
      type: 'sql',
      params: {
        credential: 'postgresql-db-example-com-shop',
        query: 'SELECT * FROM orders WHERE total > $1 AND name LIKE $2 LIMIT 10',
        params: ['<start.input.least>', '%<start.input.name>%'],
        mode: 'rows',
      },
    })
    expect(credentials).toMatchObject([{ name: 'postgresql-db-example-com-shop', kind: 'sql' }])
    const text = notes.join('\n')
    expect(text).toContain('(server db.example.com:5432, database shop, user ada)')
    expect(document.blocks['after']?.params?.['code']).toBe('return <orders.rows> + <orders.count>')
    expect(block.origin?.values?.['query']).toContain('<start.name>')
  })

  test('becomes a transaction when it has several statements', () => {
    const { block } = imported('mysql', {
      operation: 'execute',
      query: 'UPDATE a SET n = <start.n>; DELETE FROM b WHERE m = {{M}};',
    })
    expect(block.params).toMatchObject({
      query: 'UPDATE a SET n = ?; DELETE FROM b WHERE m = ?;',
      params: ['<start.input.n>', '{{M}}'],
      mode: 'transaction',
    })
  })

  test('becomes a statement when its table and columns are known', () => {
    const insert = imported('postgresql', {
      ...{ operation: 'insert', table: 'public.orders', data: '{"total": 5, "name": "<start.name>"}' },
    })
    expect(insert.block.params).toMatchObject({
      query: 'INSERT INTO "public"."orders" ("total", "name") VALUES ($1, $2) RETURNING *',
      params: [5, '<start.input.name>'],
    })
    const update = imported('mysql', {
      ...{ operation: 'update', table: 'orders', data: '{"total": 5}', where: "id = <start.id> AND kind = 'b'" },
    })
    expect(update.block.params).toMatchObject({
      query: "UPDATE `orders` SET `total` = ? WHERE id = ? AND kind = 'b'",
      params: [5, '<start.input.id>'],
    })
    const remove = imported('postgresql', { operation: 'delete', table: 'orders', where: "id = '<start.id>'" })
    expect(remove.block.params).toMatchObject({
      query: 'DELETE FROM "orders" WHERE id = $1 RETURNING *',
      params: ['<start.input.id>'],
    })
  })

  test.each([
    ['a query from a block', { operation: 'query', query: '<start.query>' }, '<start.query>'],
    ['a table from a block', { operation: 'query', query: 'SELECT * FROM <start.table>' }, '<start.table>'],
    ['an insert into any table', { operation: 'insert', table: '<start.t>', data: '{"a": 1}' }, 'a fixed table'],
    ['columns from a block', { operation: 'insert', table: 't', data: '<start.row>' }, 'columns must be known'],
    ['a column that is not a name', { operation: 'insert', table: 't', data: '{"a) --": 1}' }, 'columns must be known'],
    ['a condition from a block', { operation: 'delete', table: 't', where: '<start.where>' }, '<start.where>'],
    ['no condition', { operation: 'delete', table: 't' }, 'a WHERE condition'],
    [
      'a condition and more',
      { operation: 'delete', table: 't', where: 'a = 1; DROP TABLE b' },
      'has a comment or semicolon',
    ],
    ['a description', { operation: 'introspect', schema: 'public' }, 'information_schema'],
  ])('stays a placeholder for %s', (_, values, needs) => {
    const { block, placeholders } = imported('postgresql', values)
    expect(block.type).toBe('placeholder')
    expect(placeholders[0]?.needs).toContain(needs)
  })
})

describe('references in a query', () => {
  test.each([
    ["SELECT f(<start.a>, '<start.b>') + <start.c>", 'SELECT f($1, $2) + $3', ['<start.a>', '<start.b>', '<start.c>']],
    ['SELECT 1 WHERE a BETWEEN <start.a> AND <start.b>', 'SELECT 1 WHERE a BETWEEN $1 AND $2', 2],
    ["INSERT INTO t (a) VALUES (<start.a>), ('it''s <start.b>')", 'INSERT INTO t (a) VALUES ($1), ($2)', 2],
    ["SELECT 1 WHERE a = '<start.a>'::jsonb -- <start.b>\nAND b = 1", 'SELECT 1 WHERE a = $1::jsonb  \nAND b = 1', 1],
    ['SELECT 1 WHERE a < b AND other_name.d> 5', 'SELECT 1 WHERE a < b AND other_name.d> 5', 0],
    ['SELECT $$ <b> $$, "a;b" WHERE x IN (<start.a>, <start.b>)', 'SELECT $$ <b> $$, "a;b" WHERE x IN ($1, $2)', 2],
  ])('become placeholders in %s', (query, sql, params) => {
    const result = bound(query)
    if ('refused' in result) throw new Error(result.refused)
    expect(result.sql).toBe(sql)
    if (typeof params === 'number') expect(result.params).toHaveLength(params)
    else expect(result.params).toEqual(params as string[])
    expect(result.statements).toBe(1)
  })

  test.each([
    'SELECT * FROM t ORDER BY <start.a>',
    'SELECT a, <start.a> FROM t',
    'SELECT * FROM t WHERE a = 1 AND <start.a>',
    'SELECT * FROM t WHERE a BETWEEN 1 AND <start.a> AND <start.b>',
    'SELECT * FROM t WHERE (<start.a>)',
    'SELECT * FROM t WHERE a IN (<start.a>)',
    'SELECT * FROM t WHERE a = users_<start.a>',
    'SELECT * FROM t WHERE a = <start.a>.b',
    'SELECT * FROM t WHERE a = <start.f>(1)',
    'SELECT "<start.a>" FROM t',
    "SELECT INTERVAL '<start.a> days'",
    "SELECT E'\\n<start.a>'",
    'SELECT $$<start.a>$$',
    "SELECT '<start.a>",
    'CREATE TABLE t (a int DEFAULT <start.a>)',
    'INSERT INTO t (<start.a>) VALUES (1)',
    'SELECT $1 WHERE a = <start.a>',
    '<start.a> SELECT',
  ])('are refused in %s', (query) => {
    expect(bound(query)).toHaveProperty('refused')
  })

  test('in quotes are texts in MySQL', () => {
    expect(bound('SELECT "a <start.a>" # <start.b>', 'mysql')).toMatchObject({
      sql: 'SELECT ?  ',
      params: ['a <start.a>'],
    })
    expect(bound("SELECT 'a\\' <start.a>'", 'mysql')).toHaveProperty('refused')
    expect(bound('SELECT ? + <start.a>', 'mysql')).toHaveProperty('refused')
  })

  test('never stay in the query, and each has one placeholder', () => {
    const part = fc.constantFrom(
      ...['<start.a>', '{{A}}', '<other.b.c>', "'", '"', '`', '$$', '--', '/*', '*/', '\n', ' ', '(', ')', ',', ';'],
      ...[
        '=',
        '*',
        'SELECT',
        ' IN ',
        ' AND ',
        ' BETWEEN ',
        'a',
        '1',
        '.',
        '\\',
        '#',
        'E',
        '$1',
        '?',
        '<',
        '>',
        '<x.y>',
      ],
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.constantFrom('postgres' as const, 'mysql' as const),
        (parts, dialect) => {
          const result = bound(`SELECT ${parts.join('')}`, dialect)
          if ('refused' in result) return
          expect(parseTemplate(result.sql).filter((each) => each.kind !== 'text')).toEqual([])
          if (result.params.length === 0) return
          // The block that runs the query finds the same placeholders and statements.
          expect(statementsOf(result.sql, result.params, dialect)).toHaveLength(result.statements)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('are found in linear time', () => {
    for (const piece of ["'", '"', '/*', '$$', '$a$', '<start.a>', 'a=<start.a>,', '(', '\n--', 'E']) {
      const started = performance.now()
      bound(`SELECT ${piece.repeat(100_000 / piece.length)}`)
      expect(performance.now() - started).toBeLessThan(2_000)
    }
  })
})
