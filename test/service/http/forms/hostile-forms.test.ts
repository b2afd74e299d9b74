import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { block } from '../../../support/make.ts'
import { chunk, sendRaw } from '../raw.ts'
import { FormWorld, formOf, textFile } from './form-world.ts'

let world: FormWorld
let path: string
const fields = [
  { name: 'a', type: 'string' },
  { name: 'more', type: 'object' },
  { name: 'papers', type: 'files' },
]
beforeAll(async () => {
  world = await FormWorld.open({ 'form-visitor-per-minute': '10000' })
  path = await world.form({ fields })
})
afterAll(() => world.close())

async function writeAll(socket: { write(bytes: Uint8Array): number }, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += socket.write(bytes.subarray(at))
    if (at < bytes.length) await Bun.sleep(1)
  }
}

const port = () => Number(new URL(world.executions.url).port)
const incoming = () => readdirSync(`${world.executions.folder}/files/.incoming`)
const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

describe('the names of members and fields', () => {
  test('may be those of object prototypes', async () => {
    const body = `{"a":"x",${names.map((name) => `"${name}":{"polluted":true}`).join(',')}}`
    const json = await world.send(path, undefined, { text: body, headers: { 'content-type': 'application/json' } })
    const form = await world.send(path, formOf({ a: 'x', ...Object.fromEntries(names.map((name) => [name, 'x'])) }))
    for (const sent of [json, form]) {
      expect(await world.resultOf(sent.json.executionId)).toEqual({ a: 'x', more: null, papers: null })
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('may be those of the fields themselves, for texts and files', async () => {
    const text = names.slice(1)
    const own = await world.form({
      fields: [...text.map((name) => ({ name, type: 'string' })), { name: '__proto__', type: 'files' }],
    })
    const empty = await world.send(own, {})
    expect(Object.values(await world.resultOf(empty.json.executionId))).toEqual(Array(5).fill(null))
    const form = new FormData()
    for (const name of text) form.append(name, 'x')
    form.append('__proto__', textFile('a.txt'), 'a.txt')
    const sent = await world.send(own, form)
    expect(sent.status).toBe(202)
    const result = await world.resultOf(sent.json.executionId)
    expect(text.map((name) => result[name])).toEqual(['x', 'x', 'x', 'x'])
    expect((await world.logOf(sent.json.executionId)).files).toHaveLength(1)
  })
})

describe('the address of a form', () => {
  test('leads only to forms, however it is written', async () => {
    const tricks = [
      ...['..%2f..%2fapi%2fworkflows', '%2e%2e', `${path}%00`, `${path}%2f`, '__proto__', 'constructor'],
      ...['a'.repeat(5_000), '%F0%9F%92%A3', `${path}%20`, '<script>', "'%20OR%201=1--"],
    ]
    for (const trick of tricks) {
      const { status, text } = await world.send(trick, {})
      expect([404, 405, 414], `${trick.slice(0, 40)}: ${status}`).toContain(status)
      expect(text).not.toContain('<script>')
    }
    // `fetch` resolves dots itself.
    for (const trick of tricks.filter((each) => each !== '%2e%2e')) {
      const response = await fetch(`${world.executions.url}/form/${trick}`)
      expect([404, 414], `${trick.slice(0, 40)}: ${response.status}`).toContain(response.status)
      expect(await response.text()).not.toContain('<script>')
    }
  })
})

describe('the names of files', () => {
  test('cannot lead to another folder or add a header', async () => {
    const tricky = [
      '../../../../etc/passwd',
      '..\\..\\boot.ini',
      'a\r\nSet-Cookie: b=c',
      `${'x'.repeat(3_000)}.txt`,
      '.',
    ]
    for (const name of tricky) {
      const data = `data:text/html;base64,${btoa('<script>alert(1)</script>')}`
      const { status, json } = await world.send(path, { papers: [{ type: 'file', name, data }] })
      expect(status, name.slice(0, 40)).toBe(202)
      const { papers } = await world.resultOf(json.executionId)
      const served = await fetch(papers[0].url)
      expect(served.headers.get('set-cookie')).toBeNull()
      expect(served.headers.get('content-security-policy')).toContain('sandbox')
      expect(papers[0].name).not.toMatch(/[\r\n]/)
      expect(papers[0].name.length).toBeLessThanOrEqual(255)
      expect(new URL(papers[0].url).pathname).not.toContain('..')
    }
    const root = `${world.executions.folder}/files/`
    for (const stored of world.stored()) expect(stored.startsWith(root)).toBe(true)
  })
})

describe('a broken body', () => {
  const boundary = { 'content-type': 'multipart/form-data; boundary=b' }
  const part = 'Content-Disposition: form-data; name="papers"; filename="a.bin"\r\n\r\ncontent'

  test('is refused, and leaves nothing behind', async () => {
    const before = world.stored()
    const open = `{"papers":[{"type":"file","name":"a","data":"data:text/plain;base64,${'QUJD'.repeat(5_000)}`
    const deep = `{"more":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_001)}`
    const bodies: [body: string, headers: Record<string, string>][] = [
      [`--b\r\n${part}`, boundary],
      ['no boundary', { 'content-type': 'multipart/form-data' }],
      [`--b\r\n${part}\r\n--b--`, { 'content-type': `multipart/form-data; boundary=${'b'.repeat(8_000)}` }],
      [open, { 'content-type': 'application/json' }],
      [deep, { 'content-type': 'application/json' }],
      ['{"a":"x"}{"a":"y"}', { 'content-type': 'application/json' }],
      ['\u0000', { 'content-type': 'application/json' }],
      ['[1]', { 'content-type': 'application/json; charset=utf-16' }],
      ['{"a":"x"}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
      ['{"a":"x"}', { 'content-type': 'application/json', 'content-encoding': 'unknown' }],
    ]
    for (const [text, headers] of bodies) {
      const { status, json } = await world.send(path, undefined, { text, headers })
      const about = `${JSON.stringify(headers).slice(0, 80)} ${text.slice(0, 30)}`
      expect([400, 413, 415], `${about}: ${status}`).toContain(status)
      expect(json.error, about).toBeString()
    }
    expect(world.stored()).toEqual(before)
    expect(incoming()).toEqual([])
  })

  test('that ends early leaves no file behind and delays nobody else', async () => {
    const before = world.stored()
    const head = (length: number) =>
      `POST /api/forms/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    const open = `{"papers":[{"type":"file","name":"a","data":"data:text/plain;base64,${'QUJD'.repeat(20_000)}`
    const hanging = Array.from({ length: 20 }, () => sendRaw(port(), [head(5_000_000), open], true))
    const { status } = await world.send(path, { a: 'x' })
    expect(status).toBe(202)
    await Promise.all(hanging)
    while (incoming().length > 0) await Bun.sleep(10)
    expect(world.stored()).toEqual(before)
  })

  test('that arrives slowly does not use the memory for forms of others', async () => {
    const before = world.stored().length
    const head = `POST /api/forms/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${boundary['content-type']}\r\n`
    const open = [`${head}Content-Length: 31000000\r\n\r\n--b\r\n${part}`, Buffer.alloc(8_000_000, 'x')]
    const leave = Promise.withResolvers<void>()
    const slow = Array.from({ length: 10 }, async () => {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port: port(), socket: { data() {} } })
      for (const bytes of open) await writeAll(socket, Buffer.from(bytes))
      await leave.promise
      socket.terminate()
    })
    while (incoming().length < 10) await Bun.sleep(10)
    const file = new File([new Uint8Array(20_000_000)], 'large.bin')
    expect((await world.send(path, formOf({ papers: file }))).status).toBe(202)
    leave.resolve()
    await Promise.all(slow)
    while (incoming().length > 0) await Bun.sleep(10)
    expect(world.stored()).toHaveLength(before + 1)
  }, 60_000)

  test('in chunks with wrong lengths is refused', async () => {
    const head = `POST /api/forms/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const { status } = await sendRaw(port(), [head, chunk('{"a":"x"}'), 'zz\r\n'])
    expect([0, 400]).toContain(status)
    const whole = await sendRaw(port(), [head, chunk('{"a":'), chunk('"x"}'), '0\r\n\r\n'])
    expect(whole.status).toBe(202)
  })
})

describe('headers', () => {
  test('of proxies do not reset the limit on password guesses', async () => {
    const locked = await world.form({ fields, access: 'password', password: 'right' })
    const statuses = []
    for (let number = 0; number < 23; number += 1) {
      const forged = `198.51.100.${number}`
      const headers = {
        ...{ 'x-form-password': `wrong ${number}`, 'x-forwarded-for': forged, forwarded: `for=${forged}` },
        ...{ 'x-real-ip': forged, 'cf-connecting-ip': forged },
      }
      statuses.push((await world.send(locked, { a: 'x' }, { headers })).status)
    }
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429, 429])
  })

  test('with unusual characters as a password are only compared', async () => {
    const locked = await world.form({ fields, access: 'password', password: '100 % sicher' })
    for (const password of ['%', '%zz', '%00', '{{FORM_PASSWORD}}', 'x'.repeat(8_000), '100 % siche']) {
      const { status } = await world.send(locked, { a: 'x' }, { headers: { 'x-form-password': password } })
      expect([401, 431], password.slice(0, 20)).toContain(status)
    }
    const right = { 'x-form-password': '100 % sicher' }
    expect((await world.send(locked, { a: 'x' }, { headers: right })).status).toBe(202)
  })
})

test('an approval of a public form has the same limits as the form', async () => {
  const asks = world.newPath()
  const blocks = [
    block('start', 'form_trigger', { path: asks, title: 'T', fields: [], respond: 'next' }),
    block('ask', 'approval', { title: 'Papers?', fields: [{ name: 'papers', type: 'files' }] }),
    block('end', 'function', { code: 'return <ask.fields>' }),
  ]
  await world.deploy(blocks, ['start > ask', 'ask > end'])
  const { json } = await world.send(asks, {})
  const pause = new URL(json.next).pathname.replace('/pause/', '/api/pauses/')
  const answer = (body: object) => world.executions.call(pause, { key: null, ...body })
  const before = world.stored()
  const many = formOf({ 'fields.papers': Array.from({ length: 11 }, (_, number) => textFile(`${number}`)) })
  const refused = await answer({ form: many })
  expect([refused.status, refused.json.error]).toEqual([413, expect.stringContaining('MILLRACE_ANONYMOUS_FILES_MAX')])
  const long = await answer({ body: { approved: true, fields: { a: 'x'.repeat(1_100_000) } } })
  expect([long.status, long.json.error]).toEqual([413, expect.stringContaining('ANONYMOUS_BODY_BYTES_MAX')])
  const polluted = await answer({ text: '{"approved":true,"fields":{"__proto__":{"papers":[1]},"papers":null}}' })
  expect(polluted.status).toBe(200)
  expect(await world.resultOf(json.executionId)).toEqual({ papers: null })
  expect(world.stored()).toEqual(before)
})
