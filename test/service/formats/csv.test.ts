import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CsvReader } from '../../../src/formats/csv/csv-reader.ts'
import { Desk, valueInput } from '../../support/formats/desk.ts'
import { programPath } from '../../support/programs.ts'

const desk = new Desk()
afterAll(() => desk[Symbol.asyncDispose]())

/** Rows as Python's csv module writes them. */
async function writtenByPython(rows: unknown, dialect: string): Promise<string> {
  const program = `import csv,json,sys
rows=json.load(sys.stdin)
sys.stdout.reconfigure(newline='',encoding='utf-8')
csv.writer(sys.stdout,${dialect}).writerows(rows)`
  return await python(program, JSON.stringify(rows))
}

async function readByPython(text: string, dialect: string): Promise<unknown> {
  const program = `import csv,json,sys
sys.stdin.reconfigure(newline='',encoding='utf-8')
print(json.dumps(list(csv.reader(sys.stdin,${dialect}))))`
  return JSON.parse(await python(program, text))
}

async function python(program: string, stdin: string): Promise<string> {
  const child = Bun.spawn([programPath('python3'), '-c', program], { stdin: Buffer.from(stdin), stderr: 'pipe' })
  const [text, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(error)
  return text
}

const difficult = [
  ['id', 'a "quoted" name', 'with;semicolon', 'with,comma', 'with\ttab', 'with|pipe'],
  ['1', 'two\nlines', 'two\r\nlines', 'Zoë 😀', "it's", ''],
  ['', '', '', '', '', ' spaces '],
  ['=1+1', '-3', '""', '"', ',', '0012'],
]

describe('CSV of other programs', () => {
  const dialects = {
    "'excel'": {},
    "'excel-tab'": { delimiter: 'tab' },
    "'unix'": {},
    "'excel', delimiter=';'": { delimiter: ';' },
    "'excel', delimiter='|', quoting=csv.QUOTE_NONNUMERIC": { delimiter: 'pipe' },
    "'excel', quotechar=\"'\"": { quote: "'" },
    "'excel', lineterminator='\\r'": {},
  }
  for (const [dialect, options] of Object.entries(dialects)) {
    test(`is read as Python wrote it (${dialect})`, async () => {
      // Python does not quote a line feed when rows end otherwise.
      const rows = dialect.includes('lineterminator') ? difficult.toSpliced(1, 1) : difficult
      const text = await writtenByPython(rows, dialect)
      expect((await desk.do('csv_parse', text, { header: false, ...options })).data).toEqual(rows)
    })
  }

  test('is read by Python as it was written here', async () => {
    for (const [delimiter, dialect] of [
      [',', "'excel'"],
      ['\t', "'excel-tab'"],
      [';', "'excel',delimiter=';'"],
    ] as const) {
      for (const more of [{}, { quoteAll: true }, { newline: 'lf' }]) {
        const { data } = await desk.do('csv_write', valueInput(difficult), { delimiter, ...more })
        expect(await readByPython(data as string, dialect)).toEqual(difficult)
      }
    }
  })

  test('has its delimiter detected', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const text = `${['name', 'note', 'price'].join(delimiter)}\n${['A', '"x, y; z"', '1'].join(delimiter)}\n`
      const { data } = await desk.do('csv_parse', text)
      expect(data).toEqual([{ name: 'A', note: 'x, y; z', price: '1' }])
    }
    expect((await desk.do('csv_parse', 'only\none\n')).data).toEqual([{ only: 'one' }])
  })
})

describe('reading CSV', () => {
  test('gives the same rows however the text is cut into pieces', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'ß', '"', ',', '\n', '\r', ' '), maxLength: 5 })
    fc.assert(
      fc.property(cell, fc.array(fc.nat(8), { maxLength: 40 }), (text, cuts) => {
        const read = (pieces: string[]) => {
          const rows: string[][] = []
          const reader = new CsvReader({ delimiter: ',', quote: '"' }, (cells) => rows.push(cells))
          try {
            for (const piece of pieces) reader.push(piece)
            reader.end()
          } catch (error) {
            return [...rows, String(error)]
          }
          return rows
        }
        const long = text.repeat(4)
        const pieces: string[] = []
        let at = 0
        for (const cut of cuts) {
          pieces.push(long.slice(at, at + cut))
          at += cut
        }
        expect(read([...pieces, long.slice(at)])).toEqual(read([long]))
      }),
    )
  })

  test('and writing return the same rows', async () => {
    const rows = fc.array(fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 2 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(',', ';', '\t'), async (list, delimiter) => {
        const well = list.map((row) => row.map((cell) => cell.toWellFormed()))
        const { data } = await desk.do('csv_write', valueInput(well), { delimiter })
        expect((await desk.do('csv_parse', data as string, { header: false, delimiter })).data).toEqual(well)
      }),
      { numRuns: 50 },
    )
  })

  test('names the columns by the header, and those without a name by their number', async () => {
    const { data } = await desk.do('csv_parse', '\ufeffa,,a,a_2,__proto__\n1,2,3,4,5,6\n7\n')
    expect(data).toEqual([
      JSON.parse('{"a":"1","column2":"2","a_2":"3","a_2_2":"4","__proto__":"5","column6":"6"}'),
      JSON.parse('{"a":"7","column2":null,"a_2":null,"a_2_2":null,"__proto__":null}'),
    ])
  })

  test('reads a part of the rows and columns', async () => {
    const text = `a,b,c\n${Array.from({ length: 10 }, (_, at) => `${at},x,y\n`).join('')}`
    const { data } = await desk.do('csv_parse', text, { columns: 'c, a', offset: 2, limit: 2 })
    expect(data).toEqual([
      { a: '2', c: 'y' },
      { a: '3', c: 'y' },
    ])
    expect(await desk.fails('csv_parse', text, { columns: ['d'] })).toContain(
      'INVALID_DOCUMENT: There is no column "d". The columns are "a", "b", "c".',
    )
  })

  test('reads numbers only where no digit is lost', async () => {
    const { data } = await desk.do('csv_parse', 'a\n1\n-2.50\n007\n1e3\n12345678901234567890\nTRUE\n""\nx\n', {
      types: 'auto',
    })
    expect((data as { a: unknown }[]).map(({ a }) => a)).toEqual([
      ...[1, -2.5, '007', 1000, '12345678901234567890', true, null, 'x'],
    ])
  })

  test('reads files in the encodings of spreadsheets', async () => {
    const utf16 = new Uint8Array(
      new Uint16Array([0xfeff, ...'a;b\nä;€\n'].map((c) => (typeof c === 'string' ? c.charCodeAt(0) : c))).buffer,
    )
    expect((await desk.do('csv_parse', desk.file(utf16))).data).toEqual([{ a: 'ä', b: '€' }])
    const windows = new Uint8Array([...'a;b\n'].map((c) => c.charCodeAt(0)).concat([0xe4, 0x3b, 0x80]))
    expect((await desk.do('csv_parse', desk.file(windows), { encoding: 'windows-1252' })).data).toEqual([
      { a: 'ä', b: '€' },
    ])
  })

  test('explains what is wrong with a document', async () => {
    expect(await desk.fails('csv_parse', 'a\n"open')).toContain('Row 2 ends within quotes')
    expect(await desk.fails('csv_parse', `a\n"${'x'.repeat(2e6)}`)).toContain('Is a quote not closed?')
    expect(await desk.fails('csv_parse', 'a\n', { delimiter: 'ab' })).toContain('must be one character')
    expect(await desk.fails('csv_parse', valueInput({}))).toContain('The input must be a text or a file')
    const many = 'a\n'.repeat(200_001)
    expect(await desk.fails('csv_parse', many)).toContain('set the option "output" to "file"')
  })
})

describe('writing CSV', () => {
  test('escapes what a spreadsheet would run, if asked to', async () => {
    const rows = valueInput([{ a: '=1+1', b: -1, c: '@x', d: 'y' }])
    expect((await desk.do('csv_write', rows, { escapeFormulas: true })).data).toBe("a,b,c,d\r\n'=1+1,-1,'@x,y\r\n")
    expect((await desk.do('csv_write', rows)).data).toBe('a,b,c,d\r\n=1+1,-1,@x,y\r\n')
  })

  test('takes the columns of all rows, and writes what is no text as JSON', async () => {
    const rows = valueInput([{ a: 1 }, { b: [1, 'x'], a: null }, { c: true }])
    expect((await desk.do('csv_write', rows, { newline: 'lf' })).data).toBe('a,b,c\n1,,\n,"[1,""x""]",\n,,true\n')
    expect((await desk.do('csv_write', rows, { columns: ['c'], header: false, newline: 'lf' })).data).toBe(
      '""\n""\ntrue\n',
    )
  })

  test('takes a text with a JSON list or JSON Lines', async () => {
    for (const text of ['[{"a":1},{"a":2}]', '{"a":1}\n{"a":2}\n', '\n[1]\n[2]']) {
      const { data } = await desk.do('csv_write', text, { header: false, newline: 'lf' })
      expect(data).toBe('1\n2\n')
    }
  })

  test('refuses rows that are not alike', async () => {
    expect(await desk.fails('csv_write', valueInput([{ a: 1 }, 2]))).toContain('Row 2 is not an object')
    expect(await desk.fails('csv_write', valueInput({ a: 1 }))).toContain('a list of rows')
  })
})

test('a CSV file becomes a file of JSON Lines and a CSV file again', async () => {
  const text = `a,b\n${Array.from({ length: 300_000 }, (_, at) => `${at},"x ""${at}"""\n`).join('')}`
  const lines = await desk.do('csv_parse', desk.file(text), { output: 'file', fileName: 'all.jsonl' })
  expect(lines.data).toEqual({ rows: 300_000 })
  expect(lines.files).toMatchObject([{ name: 'all.jsonl', type: 'application/jsonl' }])
  expect(lines.text).toStartWith('{"a":"0","b":"x \\"0\\""}\n{"a":"1","b":"x ')
  const [file] = lines.files
  const input = desk.fileAt(file?.path ?? '')
  const part = await desk.do('jsonl_parse', input, { offset: 299_998 })
  expect(part.data).toEqual([
    { a: '299998', b: 'x "299998"' },
    { a: '299999', b: 'x "299999"' },
  ])
  const back = await desk.do('csv_write', input, { output: 'file', newline: 'lf' })
  expect(back.text).toBe(text)
})
