import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bodyOf, readWebhookBody } from '../../../src/triggers/webhook-body.ts'
import { bodyLimits } from '../../support/body-limits.ts'

const limits = bodyLimits({ values: 5_000, fields: 100, files: 3 })
const stored: { bytes: Uint8Array; name: string; type: string }[] = []
async function read(body: BodyInit | null, type?: string) {
  const request = new Request('http://x/', { method: 'POST', body })
  // Separate headers, because `Request` adds a content type to a string body.
  const headers = new Headers(type === undefined ? {} : { 'content-type': type })
  const content = await readWebhookBody(await request.bytes(), headers, limits)
  stored.splice(0)
  return await bodyOf(content, async (bytes, facts) => {
    stored.push({ bytes, ...facts })
    return { key: facts.name, file: { url: `/files/${facts.name}`, size: bytes.byteLength, ...facts } }
  })
}
const bodyAs = async (body: BodyInit, type?: string) => (await read(body, type)).body

describe('a body with too many', () => {
  const refused = (setting: string) => ({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining(setting) })

  test('values is rejected, with and without a type', async () => {
    const text = `[${Array(5_001).fill('0').join()}]`
    await expect(read(text, 'application/json')).rejects.toMatchObject(refused('MAX_values'))
    await expect(read(text)).rejects.toMatchObject(refused('MAX_values'))
  })

  test('form fields is rejected before it is parsed', async () => {
    const type = 'application/x-www-form-urlencoded'
    expect((await read('a&'.repeat(100), type)).body).toEqual({ a: Array(100).fill('') })
    await expect(read('a&'.repeat(101), type)).rejects.toMatchObject(refused('MAX_fields'))
  })

  test('parts or files is rejected, and stores nothing', async () => {
    const form = (parts: number, files: number) => {
      const form = new FormData()
      for (let part = 0; part < parts; part += 1) form.append('a', 'x')
      for (let file = 0; file < files; file += 1) form.append('b', new File(['x'], `${file}.txt`))
      return form
    }
    const send = async (form: FormData) => {
      const request = new Request('http://x/', { method: 'POST', body: form })
      const type = request.headers.get('content-type') ?? ''
      return await read(await request.bytes(), type)
    }
    expect((await send(form(90, 3))).files).toHaveLength(3)
    stored.splice(0)
    await expect(send(form(0, 4))).rejects.toMatchObject(refused('MAX_files'))
    await expect(send(form(101, 0))).rejects.toMatchObject(refused('MAX_fields'))
    expect(stored).toEqual([])
  })
})

describe('a body', () => {
  test('of JSON becomes its value, whatever its type', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(await bodyAs(text, 'application/json; charset=utf-8'))).toBe(text)
        expect(JSON.stringify(await bodyAs(text, 'application/vnd.api+json'))).toBe(text)
        expect(JSON.stringify(await bodyAs(text))).toBe(text)
      }),
      { numRuns: 50 },
    )
  })

  test('of invalid JSON is rejected, but becomes text without a content type', async () => {
    const problem = await read('{"a":', 'application/json').catch((error: unknown) => error)
    expect(problem).toMatchObject({ code: 'INVALID_JSON' })
    expect(await bodyAs('{"a":')).toBe('{"a":')
    const latin = Uint8Array.of(0x22, 0xe9, 0x22)
    expect(await read(latin, 'application/json').catch((error: unknown) => error)).toMatchObject({
      code: 'INVALID_JSON',
    })
  })

  test('that is empty becomes null', async () => {
    expect((await read(null, 'application/json')).body).toBeNull()
  })

  test('of a form becomes its fields, and a repeated field becomes a list', async () => {
    const form = 'a=1&b=x+y&a=%C3%A9&__proto__=p'
    const body = await bodyAs(form, 'application/x-www-form-urlencoded')
    expect(JSON.stringify(body)).toBe('{"a":["1","é"],"b":"x y","__proto__":"p"}')
  })

  test('of text becomes text, decoded with its charset', async () => {
    expect(await bodyAs('plain', 'text/plain')).toBe('plain')
    expect(await bodyAs('<a>1</a>', 'application/xml')).toBe('<a>1</a>')
    expect(await bodyAs(Uint8Array.of(0xe9), 'text/plain; charset=iso-8859-1')).toBe('é')
  })

  test('of a multipart form has its files stored', async () => {
    const form = new FormData()
    form.append('note', 'hello')
    form.append('photo', new File([Uint8Array.of(1, 2, 3)], 'a b.png', { type: 'image/png' }))
    form.append('doc', new File(['x'], 'one.txt', { type: 'text/plain' }))
    form.append('doc', new File(['yy'], 'two.txt', { type: 'text/plain' }))
    const sent = new Response(form)
    const type = sent.headers.get('content-type') ?? ''
    const { body, files } = await read(await sent.bytes(), type)
    expect(body).toEqual({
      note: 'hello',
      photo: { url: '/files/a b.png', name: 'a b.png', type: 'image/png', size: 3 },
      doc: [
        { url: '/files/one.txt', name: 'one.txt', type: 'text/plain', size: 1 },
        { url: '/files/two.txt', name: 'two.txt', type: 'text/plain', size: 2 },
      ],
    })
    expect(files.map(({ key }) => key)).toEqual(['a b.png', 'one.txt', 'two.txt'])
    expect(stored[0]?.bytes).toEqual(Uint8Array.of(1, 2, 3))
  })

  test('of a form has null for a file that was not selected, and a name for a file without one', async () => {
    const part = (name: string, content: string) => {
      const head = `Content-Disposition: form-data; name="${name}"; filename=""\r\nContent-Type: application/octet-stream`
      return `--x\r\n${head}\r\n\r\n${content}\r\n`
    }
    const sent = `${part('photo', '')}${part('doc', 'abc')}--x--\r\n`
    const { body, files } = await read(sent, 'multipart/form-data; boundary=x')
    expect(body).toMatchObject({ photo: null, doc: { name: 'file', size: 3 } })
    expect(files).toHaveLength(1)
  })

  test('that is a broken multipart form is rejected', async () => {
    const problem = await read('no parts', 'multipart/form-data; boundary=x').catch((error: unknown) => error)
    expect(problem).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('of any other type becomes a file', async () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0)
    expect(await bodyAs(bytes, 'image/png')).toMatchObject({ name: 'body', type: 'image/png', size: 3 })
    expect(await bodyAs(bytes)).toMatchObject({ type: 'application/octet-stream' })
  })
})
