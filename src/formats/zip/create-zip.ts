import { FormatError } from '../format-error.ts'
import type { Operation } from '../job.ts'
import { filledOption } from '../options.ts'
import { piecesOf, wrongKind } from '../source.ts'
import { ZipWriter } from './zip-writer.ts'

type Entry = { name: string; text: string } | { name: string; file: number }

/** Creates an archive of files and texts. */
export const createZip: Operation = (job) => {
  const { input, options } = job
  if (input.kind !== 'value') throw wrongKind('a list of files')
  const { files = [], json } = input
  const zip = new ZipWriter(job.sink)
  const taken = new Map<string, number>()
  for (const entry of JSON.parse(json) as Entry[]) {
    const name = nameIn(entry.name, taken)
    if ('text' in entry) zip.add(name, [Buffer.from(entry.text)])
    else {
      const file = files[entry.file]
      if (file) zip.add(name, piecesOf(file))
    }
  }
  zip.end()
  return job.file(filledOption(options, 'fileName', 'archive.zip'), 'application/zip', { files: taken.size })
}

/** A relative path that is not in the archive yet. Other programs must be able to extract it safely. */
function nameIn(given: string, taken: Map<string, number>): string {
  const parts = given.split(/[/\\]+/).filter((part) => part !== '' && part !== '.' && part !== '..')
  const name = parts.join('/').toWellFormed().replaceAll('\0', '')
  if (name === '' || name.length > nameCharsMax) {
    throw new FormatError('INVALID_PARAMETER', `"${given.slice(0, 100)}" cannot be the name of a file in an archive.`)
  }
  const before = taken.get(name)
  taken.set(name, before ?? 1)
  if (before === undefined) return name
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > name.lastIndexOf('/') + 1 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  let number = before
  do number += 1
  while (taken.has(`${stem} (${number})${ending}`))
  taken.set(name, number).set(`${stem} (${number})${ending}`, 1)
  return `${stem} (${number})${ending}`
}

const nameCharsMax = 1_000
