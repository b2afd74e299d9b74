import type { ErrorDetail } from '../domain/errors.ts'
import { cleanName, fileBytesMax, mediaTypeOf, unknownMediaType } from '../domain/run/file.ts'
import { isObject } from '../domain/run/input.ts'
import type { DataValue } from './data-uri.ts'
import type { SpoolFile } from './spool.ts'

/** A valid file item. `content`: the bytes to store; `url`: where the file already is. */
export type FileItem = { name: string; type: string } & ({ content: SpoolFile } | { url: string })

/** A `data` string that was cut out of the body. */
export type CutData = { value: DataValue; file: SpoolFile }

export type ItemReading = { ok: true; item: FileItem } | { ok: false; isTooLarge: boolean; detail: ErrorDetail }

/**
 * Reads one file item. `path`: its location, for messages. `cutOf`: returns the content that a placeholder stands for.
 */
export function readFileItem(raw: unknown, path: string, cutOf: (data: string) => CutData | undefined): ItemReading {
  const refuse = (message: string, member?: string): ItemReading => {
    const detail = { path: member === undefined ? path : `${path}.${member}`, message: `${path}: ${message}` }
    return { ok: false, isTooLarge: false, detail }
  }
  if (!isObject(raw)) return refuse('a file item must be an object with type, data and name.')
  const { type, data, name, mime } = raw
  if (type !== 'file' && type !== 'url') return refuse('"type" must be "file" or "url".', 'type')
  const clean = typeof name === 'string' ? cleanName(name) : ''
  if (clean === '') return refuse('"name" must be the name of the file.', 'name')
  const hasMime = mime !== undefined && mime !== null && mime !== ''
  const givenType = typeof mime === 'string' ? mediaTypeOf(mime) : undefined
  if (hasMime && givenType === undefined) return refuse('"mime" must be a media type such as image/png.', 'mime')
  if (typeof data !== 'string') return refuse('"data" must be a string.', 'data')
  const cut = cutOf(data)
  const value: DataValue = cut ? cut.value : { kind: 'text', text: data }
  if (value.kind === 'large') {
    const message = `${path} ("${clean}") is larger than ${fileBytesMax} bytes, the maximum size of a file.`
    return { ok: false, isTooLarge: true, detail: { path, message } }
  }
  if (value.kind === 'malformed') return refuse(`"data" cannot be read: ${value.reason}.`, 'data')
  if (type === 'url') {
    if (value.kind !== 'text' || !isAddress(value.text))
      return refuse('"data" must be an http or https address.', 'data')
    return { ok: true, item: { name: clean, type: givenType ?? unknownMediaType, url: value.text } }
  }
  if (value.kind !== 'content' || !cut) {
    return refuse('"data" must be a data URI, data:<media type>;base64,<content>.', 'data')
  }
  return {
    ok: true,
    item: { name: clean, type: givenType ?? mediaTypeOf(value.mime) ?? unknownMediaType, content: cut.file },
  }
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text)
}
