import { messageOf } from '../../domain/errors.ts'
import type { McpContent, McpResult } from '../../domain/mcp-server.ts'
import { mediaTypeOf, unknownMediaType } from '../../domain/run/file.ts'
import { isObject } from '../../domain/run/input.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { fileNameOf, isFileObject } from '../api/files.ts'

/**
 * The parts of a result as later blocks read them: binary content is stored, and its part has the `file` in place of
 * the data. Throws `BlockError`, also for a result with too many parts or files.
 */
export async function contentOf({ content }: McpResult, context: Pick<BlockContext, 'files'>): Promise<McpContent[]> {
  if (content.length > partsMax) throw tooMany(`${content.length} parts`, partsMax)
  const files = content.filter(hasFile).length
  if (files > filesMax) throw tooMany(`${files} files`, filesMax)
  const parts: McpContent[] = []
  for (const part of content) parts.push(await readPart(part, context))
  return parts
}

const partsMax = 1_000
const filesMax = 100

function tooMany(found: string, max: number): BlockError {
  return new BlockError('INVALID_RESPONSE', `The result of the tool has ${found}. At most ${max} are allowed.`)
}

function hasFile({ type, data, resource }: McpContent): boolean {
  if (type === 'image' || type === 'audio') return typeof data === 'string'
  return type === 'resource' && isObject(resource) && typeof resource['blob'] === 'string'
}

async function readPart(part: McpContent, context: Pick<BlockContext, 'files'>): Promise<McpContent> {
  const { data, mimeType, resource, ...rest } = part
  if ((part.type === 'image' || part.type === 'audio') && typeof data === 'string')
    return { ...rest, type: part.type, mimeType, file: await stored(data, mimeType, part.type, context) }
  if (part.type !== 'resource' || !isObject(resource) || typeof resource['blob'] !== 'string') return part
  const { blob, ...about } = resource
  const file = await stored(blob as string, about['mimeType'], nameOf(about['uri']), context)
  return { ...rest, type: 'resource', resource: about, file }
}

async function stored(base64: string, type: unknown, name: string, { files }: Pick<BlockContext, 'files'>) {
  const mediaType = (typeof type === 'string' ? mediaTypeOf(type) : undefined) ?? unknownMediaType
  const bytes = Buffer.from(base64, 'base64')
  try {
    return await files.store(bytes, { name: withExtension(name, mediaType), type: mediaType })
  } catch (error) {
    throw new BlockError('STORAGE_UNAVAILABLE', `A file of the result could not be stored: ${messageOf(error)}`)
  }
}

function nameOf(uri: unknown): string {
  return typeof uri === 'string' && URL.canParse(uri) ? fileNameOf(undefined, uri) : 'file'
}

function withExtension(name: string, mediaType: string): string {
  const [, subtype = ''] = /\/([a-z0-9]{1,10})$/.exec(mediaType) ?? []
  return name.includes('.') || subtype === '' ? name : `${name}.${subtype === 'mpeg' ? 'mp3' : subtype}`
}

/** The files in the parts of an output. */
export function filesIn(content: unknown) {
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown) => (isObject(part) && isFileObject(part['file']) ? [part['file']] : []))
}

/** The texts of a result, one after the other. */
export function textOf(content: readonly McpContent[]): string {
  return content.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
}
