import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../src/domain/errors.ts'
import { boundaryOf, MultipartReader, type PartHead } from '../../../src/files/multipart-reader.ts'

type Part = PartHead & { content: string; isEnded: boolean }

/** Reads the portions. Contents are Latin-1, one character for each byte. */
function read(portions: readonly Uint8Array[], boundary = 'b'): Part[] {
  const parts: Part[] = []
  const reader = new MultipartReader({
    boundary,
    open(head) {
      const part: Part = { ...head, content: '', isEnded: false }
      parts.push(part)
      return {
        push: (bytes) => {
          part.content += Buffer.from(bytes).toString('latin1')
        },
        end: () => {
          part.isEnded = true
        },
      }
    },
  })
  for (const portion of portions) {
    // The reader must not use a portion again, because `freeBytes` frees it.
    const own = Uint8Array.from(portion)
    reader.push(own)
    own.buffer.transfer(0)
  }
  reader.end()
  return parts
}

/** Cuts the bytes at these places, which may be equal. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = places.map((place) => Math.floor(place * bytes.length)).toSorted((one, other) => one - other)
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length))
}

const text = (body: string) => Buffer.from(body, 'latin1')
const head = (name: string, filename?: string) =>
  `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`

// Content that looks like a boundary is the hard part.
const piece = fc.constantFrom('\r\n', '\r', '\n', '--', '-', '--b', 'b', '\r\n--', '\r\n-', 'x', '\0', 'é')
const content = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('').replaceAll('\r\n--b', '\r\n--a'))
const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 30 })
const cutting = fc.oneof(places, fc.constant('each byte' as const))
const cut = (bytes: Uint8Array, where: readonly number[] | 'each byte') =>
  where === 'each byte' ? Array.from(bytes, (byte) => Uint8Array.of(byte)) : cutAt(bytes, where)

describe('a multipart form', () => {
  test('has the same parts however it is cut into portions', () => {
    fc.assert(
      fc.property(fc.array(content, { maxLength: 5 }), cutting, (contents, where) => {
        const body = text(`${contents.map((each) => `--b\r\n${head('a', 'f')}${each}\r\n`).join('')}--b--\r\nafter`)
        const parts = read(cut(body, where))
        expect(parts.map((part) => part.content)).toEqual(contents)
        expect(parts.every(({ isEnded, name, filename }) => isEnded && name === 'a' && filename === 'f')).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('is read correctly as the runtime writes it', async () => {
    const characters = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).map((each) => each.toWellFormed())
    // Some clients escape a backslash and a quote with a backslash, and browsers do not: such names are ambiguous.
    const name = characters.filter((each) => !/\\(\\|$)/.test(each))
    const value = fc.oneof(characters, fc.uint8Array({ maxLength: 300 }))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 6 }), cutting, async (entries, where) => {
        const form = new FormData()
        for (const [key, entry] of entries) {
          if (typeof entry === 'string') form.append(key, entry)
          else form.append(key, new File([entry as BlobPart], 'a "b".bin', { type: 'image/png' }), 'a "b".bin')
        }
        const sent = new Response(form)
        const boundary = boundaryOf(sent.headers.get('content-type') ?? '')
        const parts = read(cut(await sent.bytes(), where), boundary)
        expect(parts.map((part) => [part.name, part.filename, part.type, part.content])).toEqual(
          entries.map(([key, entry]) =>
            typeof entry === 'string'
              ? [key, undefined, '', Buffer.from(entry).toString('latin1')]
              : [key, 'a "b".bin', 'image/png', Buffer.from(entry).toString('latin1')],
          ),
        )
      }),
      { numRuns: 200 },
    )
  })

  test('may have names in the encodings of different clients', () => {
    const nameIn = (disposition: string) => {
      const [part] = read([text(`--b\r\nContent-Disposition: ${disposition}\r\n\r\n\r\n--b--`)])
      return [part?.name, part?.filename]
    }
    expect(nameIn('form-data; name="a"')).toEqual(['a', undefined])
    expect(nameIn('FORM-DATA;NAME=a;FILENAME=b.txt')).toEqual(['a', 'b.txt'])
    expect(nameIn('form-data; filename="name=x.txt"; name="a"')).toEqual(['a', 'name=x.txt'])
    expect(nameIn('form-data; name="a %22b%22 %0d%0A 100%"')).toEqual(['a "b" \r\n 100%', undefined])
    expect(nameIn('form-data; name="a \\"b\\""; filename="C:\\dir\\c.txt"')).toEqual(['a "b"', 'C:\\dir\\c.txt'])
    expect(nameIn('form-data; name=""; filename=""')).toEqual(['', ''])
  })

  test('has no parts in its preamble and epilogue, and blanks after a boundary', () => {
    const body = `preamble\r\n--b \t\r\n${head('a')}x\r\n--b--\r\n--b\r\n${head('z')}y\r\n--b--`
    expect(read([text(body)]).map(({ name }) => name)).toEqual(['a'])
    expect(read([text('--b--')])).toEqual([])
  })

  test('that is broken is refused with INVALID_INPUT', () => {
    const broken = [
      ...['', 'x', '--b', '--b\r\n', '--bx\r\n', `--b\r\n${head('a')}x`, `--b\r\n${head('a')}x\r\n--`],
      ...['--b\r\n\r\nx\r\n--b--', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--'],
      ...[`--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--`],
      ...[`--b\r\n${head('a'.repeat(9_000))}x\r\n--b--`, `--b\r\n${'x'.repeat(9_000)}`, `--b${' '.repeat(200)}\r\n`],
    ]
    for (const body of broken) expect(() => read([text(body)]), body.slice(0, 60)).toThrow(AppError)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), cutting, (pieces, where) => {
        try {
          read(cut(text(`--b\r\n${pieces.join('')}`), where))
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_INPUT' })
        }
      }),
    )
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', `x; boundary=${'b'.repeat(201)}`]) {
      expect(() => boundaryOf(type)).toThrow(AppError)
    }
    expect(boundaryOf('multipart/form-data; boundary="a b"; charset=utf-8')).toBe('a b')
  })

  test('is read in linear time, whatever it contains', () => {
    const portions = (unit: string, count: number) => [text(`--b\r\n${head('a')}`), text(unit.repeat(count)), end]
    const end = text('\r\n--b--')
    for (const unit of ['\r\n--', '\r\n', '-', '\r']) {
      const startedAt = performance.now()
      read(portions(unit, 10_000_000 / unit.length))
      expect(performance.now() - startedAt).toBeLessThan(2_000)
    }
    // One byte at a time.
    const startedAt = performance.now()
    read(Array.from(text(`--b\r\n${head('a')}${'\r\n--'.repeat(50_000)}\r\n--b--`), (byte) => Uint8Array.of(byte)))
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})
