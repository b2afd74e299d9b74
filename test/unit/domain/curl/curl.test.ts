import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { apiParametersOf } from '../../../../src/domain/curl/api-parameters.ts'
import { isCurl, readCurl } from '../../../../src/domain/curl/curl.ts'
import { shellWords } from '../../../../src/domain/curl/shell-words.ts'

const params = (command: string) => apiParametersOf(readCurl(command)!).params
const refusals = (command: string) => readCurl(command)!.notTaken.map(({ path }) => path)

test('a quoted text is one word, whatever it contains', () => {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }), (words) => {
      expect(shellWords(words.map(quote).join(' \\\n '))).toEqual(words)
    }),
  )
})

test('the words of a command keep the rules of the shell', () => {
  expect(shellWords(`curl "a b"'c' $'d\\n\\u00e9' e\\ f`)).toEqual(['curl', 'a bc', 'd\né', 'e f'])
  expect(shellWords('curl "a \\"b\\" $HOME" | jq .')).toEqual(['curl', 'a "b" $HOME'])
  expect(shellWords('curl ^\r\n  http://x.test ^\r\n  -H ^"a: b^"')).toEqual(['curl', 'http://x.test', '-H', 'a: b'])
})

test('a command becomes the parameters of an API block', () => {
  const command = `curl -sS -X POST 'https://api.example.com/items?a=1&b=%20' \\
    -H 'Content-Type: application/json' -H 'X-Version: 2' --compressed \\
    --data-raw '{"name": "Tea", "n": 1}'`
  expect(isCurl(command)).toBe(true)
  expect(params(command)).toEqual({
    ...{ url: 'https://api.example.com/items', method: 'POST' },
    params: [
      { key: 'a', value: '1' },
      { key: 'b', value: ' ' },
    ],
    headers: [{ key: 'X-Version', value: '2' }],
    body: { name: 'Tea', n: 1 },
  })
})

test('forms, queries and methods are read as cURL reads them', () => {
  expect(params('curl x.test -d a=1 -d b=2')).toEqual({
    ...{ url: 'http://x.test', method: 'POST', bodyType: 'form' },
    body: [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ],
  })
  expect(params('curl -G http://x.test/?z=0 --data-urlencode "q=a b"')).toMatchObject({
    url: 'http://x.test/',
    params: [
      { key: 'z', value: '0' },
      { key: 'q', value: 'a b' },
    ],
  })
  expect(params('curl -XDELETE http://x.test/1')).toEqual({ url: 'http://x.test/1', method: 'DELETE' })
  expect(params('curl -ksX PUT http://x.test -d plain -H "Content-Type: text/plain"')).toMatchObject({
    ...{ method: 'PUT', bodyType: 'text', body: 'plain' },
  })
  expect(params(`curl http://x.test --json '{"a":1}'`)).toMatchObject({ method: 'POST', body: { a: 1 } })
  expect(params('curl http://x.test -F name=Ada -F "photo=@/tmp/a.png;type=image/png"')).toMatchObject({
    ...{ method: 'POST', bodyType: 'multipart', body: [{ key: 'name', value: 'Ada' }] },
  })
})

test('secrets, cookies, files and settings of the connection are listed, not taken', () => {
  const command =
    'curl -u ada:secret -b sid=1 -k --proxy p:1 -F f=@a.png -H "Authorization: Bearer secret" -H "Cookie: x=1" http://x.test other'
  expect(refusals(command)).toEqual(['-u', '-b', '-k', '--proxy', '-F f', '-H Authorization', '-H Cookie', 'other'])
  expect(JSON.stringify(readCurl(command)!.request)).not.toContain('secret')
  expect(refusals('curl -ks http://x.test')).toEqual(['-k'])
  expect(refusals('curl http://x.test -d @body.json')).toEqual(['-d'])
  expect(apiParametersOf(readCurl('curl -I http://x.test')!).notTaken).toHaveLength(1)
  expect(readCurl('curl -sS')).toBeUndefined()
})

test('no command makes the reader fail', () => {
  const piece = fc.constantFrom(
    'curl',
    '-d',
    '-H',
    "'",
    '"',
    '\\',
    '$',
    '\n',
    '-X',
    'http://x.test',
    'a: b',
    '@f',
    '-F',
    '=',
    '^',
  )
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => void readCurl(`curl ${pieces.join(' ')}`)))
})
