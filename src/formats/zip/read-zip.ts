import { cleanName, unknownMediaType } from '../../domain/run/file.ts'
import { documentTooLarge, invalidDocument } from '../format-error.ts'
import type { Job, Operation } from '../job.ts'
import { listOption } from '../options.ts'
import { filesTooLarge } from '../sink.ts'
import { wrongKind } from '../source.ts'
import { contentOf } from './content.ts'
import { ZipArchive, type ZipEntry } from './directory.ts'
import { mediaTypeOfName } from './media-types.ts'

/** The files of an archive. Nothing is decompressed. */
export const listZip: Operation = (job) => {
  using archive = archiveOf(job)
  return job.data(
    archive.entries.filter(isFile).map(({ name, size, compressedSize, modifiedAt }) => {
      return { name, size, compressedSize, modifiedAt }
    }),
  )
}

/** Extracts files of an archive. Their names are not paths for this service, so they can do no harm. */
export const extractZip: Operation = (job) => {
  using archive = archiveOf(job)
  const patterns = listOption(job.options, 'entries')
  const isWanted = patterns ? matcherOf(patterns) : () => true
  const wanted = archive.entries.filter((entry) => isFile(entry) && isWanted(entry.name))
  if (wanted.length > filesMax) {
    throw documentTooLarge(`${wanted.length} files would be extracted, and ${filesMax} is the limit. Select fewer.`)
  }
  if (patterns && wanted.length === 0) throw invalidDocument('The archive has no file with such a name.')
  const bytes = wanted.reduce((sum, { size }) => sum + size, 0)
  if (bytes > job.fileBytesMax) throw filesTooLarge()
  for (const entry of wanted) {
    for (const piece of contentOf(archive, entry, Number.MAX_SAFE_INTEGER)) job.sink.writeBytes(piece)
    job.endFile(cleanName(entry.name) || 'file', mediaTypeOfName(entry.name) ?? unknownMediaType)
  }
  return job.data(null)
}

export function archiveOf({ input }: Pick<Job, 'input'>): ZipArchive {
  if (input.kind !== 'file') throw wrongKind('a file')
  return new ZipArchive(input.file)
}

function isFile({ name }: ZipEntry): boolean {
  return name !== '' && !name.endsWith('/')
}

/** Whether a name is one of these, or fits one of the patterns. A star stands for any text. */
function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')))
  const parts = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split(/\*+/))
  if (parts.length > patternsMax) throw documentTooLarge(`There are more than ${patternsMax} patterns.`)
  return (name) => names.has(name) || parts.some((each) => fits(name, each))
}

/** Takes each part where it first occurs, so the time is linear. */
function fits(name: string, [first = '', ...rest]: readonly string[]): boolean {
  if (!name.startsWith(first)) return false
  const last = rest.pop() ?? ''
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

const filesMax = 1_000
const patternsMax = 100
