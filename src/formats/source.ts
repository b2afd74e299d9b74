import { closeSync, openSync, readSync } from 'node:fs'
import type { FormatFile, FormatInput } from '../domain/format/format-work.ts'
import { documentTooLarge, FormatError } from './format-error.ts'

/** The bytes of a file, one piece after the other. A piece is valid until the next one is read. */
export function* piecesOf({ path }: Pick<FormatFile, 'path'>): Generator<Uint8Array<ArrayBuffer>, void> {
  const handle = openSync(path, 'r')
  try {
    const buffer = new Uint8Array(pieceBytes)
    for (;;) {
      const count = readSync(handle, buffer, 0, pieceBytes, null)
      if (count === 0) return
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(handle)
  }
}

/** The text of an input, one piece after the other, without a byte order mark. */
export function* textPiecesOf(input: FormatInput, encoding = 'utf-8'): Generator<string, void> {
  if (input.kind === 'value') throw wrongKind('a text or a file')
  if (input.kind === 'text') {
    const text = input.text.startsWith('\ufeff') ? input.text.slice(1) : input.text
    for (let at = 0; at < text.length; at += pieceBytes) yield text.slice(at, at + pieceBytes)
    return
  }
  let decoder: TextDecoder | undefined
  for (const piece of piecesOf(input.file)) {
    decoder ??= new TextDecoder(markedEncoding(piece) ?? encoding)
    yield decoder.decode(piece, { stream: true })
  }
  const rest = decoder?.decode()
  if (rest) yield rest
}

/** The whole text of an input. Throws when it has more than `bytesMax` bytes. */
export function wholeText(input: FormatInput, bytesMax: number): string {
  if (input.kind === 'value') throw wrongKind('a text or a file')
  const size = input.kind === 'file' ? input.file.size : Buffer.byteLength(input.text)
  checkSize(size, bytesMax)
  let text = ''
  for (const piece of textPiecesOf(input)) text += piece
  return text
}

/** The whole content of a file. Throws when it has more than `bytesMax` bytes, or when the input is not a file. */
export function wholeBytes(input: FormatInput, bytesMax: number): Uint8Array<ArrayBuffer> {
  if (input.kind !== 'file') throw wrongKind('a file')
  checkSize(input.file.size, bytesMax)
  const bytes = new Uint8Array(input.file.size)
  let at = 0
  for (const piece of piecesOf(input.file)) {
    bytes.set(piece.subarray(0, bytes.length - at), at)
    at = Math.min(bytes.length, at + piece.length)
  }
  return bytes.subarray(0, at)
}

function checkSize(size: number, bytesMax: number): void {
  if (size <= bytesMax) return
  throw documentTooLarge(`The document has ${size} bytes. At most ${bytesMax} are read.`)
}

export function wrongKind(wanted: string): FormatError {
  return new FormatError('INVALID_PARAMETER', `The input must be ${wanted} for this operation.`)
}

function markedEncoding([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

const pieceBytes = 262_144
