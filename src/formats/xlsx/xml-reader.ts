import { Parser } from 'htmlparser2'
import { documentTooLarge, invalidDocument } from '../format-error.ts'
import { contentOf } from '../zip/content.ts'
import type { ZipArchive, ZipEntry } from '../zip/directory.ts'

/** Receives the parts of an XML document. Names have no namespace prefix. */
export type XmlHandler = {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  close?(name: string): void
  text?(text: string): void
  /** Whether the rest of the part is not needed. */
  isDone?(): boolean
}

/**
 * Reads an XML part of a spreadsheet piece by piece, so that it takes no memory. Only the five entities of XML are
 * expanded.
 */
export function readPart(archive: ZipArchive, entry: ZipEntry, handler: XmlHandler): void {
  const { name, size, compressedSize } = entry
  if (size > smallBytes && size > compressedSize * ratioMax) {
    throw documentTooLarge(`"${name}" is compressed more than ${ratioMax} times, which no spreadsheet needs.`)
  }
  let depth = 0
  const parser = new Parser(
    {
      onopentag(given, attributes) {
        depth += 1
        if (depth > depthMax) throw documentTooLarge(`"${name}" is nested deeper than ${depthMax} levels.`)
        handler.open(localName(given), attributes)
      },
      onclosetag(given) {
        depth -= 1
        handler.close?.(localName(given))
      },
      ontext: (text) => handler.text?.(text),
    },
    { xmlMode: true, decodeEntities: true },
  )
  const decoder = new TextDecoder('utf-8')
  let unparsed = 0
  for (const piece of contentOf(archive, entry, partBytesMax)) {
    const text = decoder.decode(piece, { stream: true })
    parser.write(text)
    // A tag that never ends is kept by the parser until it does.
    unparsed = text.includes('>') ? 0 : unparsed + text.length
    if (unparsed > tagCharsMax) throw invalidDocument(`"${name}" is broken: a tag or text is too long.`)
    if (handler.isDone?.()) return
  }
  parser.end(decoder.decode())
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

const smallBytes = 16_777_216
const ratioMax = 100
const partBytesMax = 2_147_483_648
const depthMax = 100
const tagCharsMax = 16_777_216
