import { cleanName, type FileObject, fileBytesMax, mediaTypeOf, unknownMediaType } from '../../domain/run/file.ts'
import { isObject } from '../../domain/run/input.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'

/** The content of a file to send, with its name and media type. */
export type SentFile = { content: Blob; name: string; type: string }

/**
 * Loads a file to send: a file of this run from the storage, any other from its URL. `label` names the file's place in
 * the parameters for error messages. Throws `BlockError`.
 */
export async function fileToSend(
  reference: unknown,
  label: string,
  context: Pick<BlockContext, 'files' | 'fetch' | 'signal'>,
  timeoutMs: number,
): Promise<SentFile> {
  const value: unknown = Array.isArray(reference) && reference.length === 1 ? reference[0] : reference
  if (!isObject(value) || typeof value['url'] !== 'string') {
    throw new BlockError(
      'INVALID_PARAMETER',
      `${label} is not a file. Use a file object, such as <start.documents[0]>.`,
    )
  }
  const { url } = value
  const name = (typeof value['name'] === 'string' ? cleanName(value['name']) : '') || 'file'
  const type = (typeof value['type'] === 'string' ? mediaTypeOf(value['type']) : undefined) ?? unknownMediaType
  const stored = await context.files.read(url)
  return { content: withType(stored ?? (await download(url, name, context, timeoutMs)), type), name, type }
}

/** The name of a downloaded file: from the response's header, or else from its URL. */
export function fileNameOf(disposition: string | undefined, url: string): string {
  const given = disposition === undefined ? '' : cleanName(nameIn(disposition))
  if (given !== '') return given
  const last = new URL(url).pathname.split('/').findLast((segment) => segment !== '') ?? ''
  return cleanName(decodeEscapes(last)) || 'file'
}

/** Whether the value is a file object. */
export function isFileObject(value: unknown): value is FileObject {
  return isObject(value) && typeof value['url'] === 'string' && typeof value['uploadedAt'] === 'string'
}

/** Loads a file from its URL. Throws `BlockError`. */
export async function download(
  url: string,
  name: string,
  { fetch, signal }: Pick<BlockContext, 'fetch' | 'signal'>,
  timeoutMs: number,
): Promise<Blob> {
  const request = {
    url,
    method: 'GET',
    headers: [],
    followRedirects: 5,
    timeoutMs,
    responseBytesMax: fileBytesMax,
    signal,
  }
  const outcome = await fetch(request)
  if (!outcome.ok) throw new BlockError(outcome.code, `The file "${name}" could not be downloaded: ${outcome.message}`)
  const { status, body } = outcome.response
  if (status >= 400) {
    const message = `The file "${name}" could not be downloaded: its server responded with the status ${status}.`
    throw new BlockError('HTTP_ERROR', message)
  }
  return new Blob([body])
}

/** The same content with another media type. Does not read the file. */
function withType(content: Blob, type: string): Blob {
  return content.slice(0, content.size, type)
}

/** `filename*` takes precedence over `filename`. Only the last segment of a path is used. */
function nameIn(disposition: string): string {
  const [, charset, encoded] = /(?:^|;)\s*filename\*\s*=\s*([\w-]*)'[^']*'([^;\s]+)/i.exec(disposition) ?? []
  const [, quoted, plain] = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? []
  const name =
    encoded !== undefined && /^utf-8$/i.test(charset ?? '')
      ? decodeEscapes(encoded)
      : (quoted?.replace(/\\(.)/g, '$1') ?? plain)
  return name?.slice(name.search(/[^/\\]*$/)) ?? ''
}

/** Text with invalid escapes stays as it is. */
function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
