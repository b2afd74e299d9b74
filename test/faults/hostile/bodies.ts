import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'

const MB = 1024 * 1024

/** A body before compression: the facts that it declares, and its bytes. */
export type PlainBody = { name: string; type: string; bytes: Buffer<ArrayBuffer> }

/** A body as it is sent. */
export type SentBody = { name: string; headers: Record<string, string>; bytes: Buffer<ArrayBuffer> }

export const compressions = ['none', 'gzip', 'zstd', 'br', 'gzip, gzip'] as const
export type Compression = (typeof compressions)[number]

/** Compresses a body, and declares it. */
export function sent({ name, type, bytes }: PlainBody, compression: Compression): SentBody {
  const headers = { 'content-type': type }
  if (compression === 'none') return { name, headers, bytes }
  const encodings = compression.split(', ')
  const compressed = encodings.reduce((before, encoding) => compress(before, encoding), bytes)
  return {
    name: `${name}, ${compression}`,
    headers: { ...headers, 'content-encoding': compression },
    bytes: compressed,
  }
}

function compress(bytes: Buffer<ArrayBuffer>, encoding: string): Buffer<ArrayBuffer> {
  if (encoding === 'gzip') return gzipSync(bytes, { level: 9 })
  if (encoding === 'zstd') return zstdCompressSync(bytes)
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}

/** Bodies that are small in bytes, or in compressed bytes, and large in values. */
export function valueBombs(bytesMax = 10 * MB): PlainBody[] {
  const json = 'application/json'
  const form = 'application/x-www-form-urlencoded'
  const fill = (part: string, around: readonly [string, string] = ['', '']) => {
    const room = bytesMax - around[0].length - around[1].length
    const text = part.repeat(Math.floor(room / part.length))
    return Buffer.from(around[0] + text.replace(/[,&]$/, '') + around[1])
  }
  const deep = `${'['.repeat(150)}${']'.repeat(150)},`
  return [
    { name: 'numbers', type: json, bytes: fill('0,', ['{"items":[', ']}']) },
    { name: 'deep lists', type: json, bytes: fill(deep, ['{"items":[', ']}']) },
    { name: 'short strings', type: json, bytes: fill('"abcdefgh",', ['{"items":[', ']}']) },
    { name: 'objects', type: json, bytes: fill('{"a":1},', ['{"items":[', ']}']) },
    { name: 'many members', type: json, bytes: members(bytesMax, (n) => `"k${n}":0`, ['{', '}'], ',') },
    { name: 'a long text of escapes', type: json, bytes: fill('\\u0025', ['{"text":"', '"}']) },
    { name: 'a long text of percent signs', type: json, bytes: fill('%', ['{"text":"', '"}']) },
    { name: 'an equal form field', type: form, bytes: fill('a&') },
    { name: 'different form fields', type: form, bytes: members(bytesMax, (n) => `k${n}`, ['', ''], '&') },
    { name: 'a text of percent escapes', type: form, bytes: fill('%25', ['text=', '']) },
    multipart('empty parts', bytesMax, 'a', ''),
    multipart('empty files', bytesMax, 'a"; filename="a', 'x'),
  ]
}

/** Bodies that stay just below the limits, so that they are accepted and processed. */
export function admittedBodies({ values, bytes }: { values: number; bytes: number }): PlainBody[] {
  const list = (item: string, count: number) => `{"items":[${Array(count).fill(item).join()}]}`
  const json = (name: string, text: string) => ({ name, type: 'application/json', bytes: Buffer.from(text) })
  const text = (character: string) => `{"text":"${character.repeat(bytes - 100)}"}`
  const long = 'x'.repeat(Math.floor(bytes / values) - 5)
  return [
    json('as many numbers as allowed', list('0', values - 10)),
    json('as many objects as allowed', list('{"a":1}', Math.floor(values / 2) - 10)),
    json('as many members as allowed', `{${Array.from({ length: values - 10 }, (_, n) => `"k${n}":0`).join()}}`),
    json('as many long strings as allowed', list(`"${long}"`, values - 10)),
    json('the longest text', text('x')),
    json('the longest text of percent signs', text('%')),
    json(
      'the longest text of quotes',
      text('\\"')
        .slice(0, bytes - 90)
        .replace(/\\*$/, '"}'),
    ),
  ]
}

function members(
  bytesMax: number,
  member: (n: number) => string,
  [open, close]: readonly [string, string],
  separator: string,
): Buffer<ArrayBuffer> {
  const parts: string[] = []
  let length = open.length + close.length
  for (let n = 0; ; n += 1) {
    const part = member(n)
    length += part.length + separator.length
    if (length > bytesMax) break
    parts.push(part)
  }
  return Buffer.from(open + parts.join(separator) + close)
}

function multipart(name: string, bytesMax: number, disposition: string, content: string): PlainBody {
  const part = `--b\r\nContent-Disposition: form-data; name="${disposition}"\r\n\r\n${content}\r\n`
  const bytes = Buffer.from(`${part.repeat(Math.floor((bytesMax - 8) / part.length))}--b--\r\n`)
  return { name, type: 'multipart/form-data; boundary=b', bytes }
}
