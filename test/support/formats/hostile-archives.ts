import { crc32, deflateRawSync } from 'node:zlib'

/** One entry of a hostile archive. `size`, `at` and so on: what the archive says, if it lies. */
export type HostileEntry = {
  name: string
  content?: Buffer
  /** Compressed content, made elsewhere. */
  raw?: { bytes: Buffer; size: number; crc: number }
  size?: number
  compressedSize?: number
  at?: number
  method?: number
  flags?: number
}

/** Writes an archive as other programs do, but with any lie in it. */
export function archiveOf(entries: readonly HostileEntry[], { count = entries.length, start = -1 } = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const { name, content = Buffer.alloc(0), method = 8, flags = 0 } = entry
    const raw = entry.raw ?? { bytes: deflateRawSync(content), size: content.length, crc: crc32(content) }
    const nameBytes = Buffer.from(name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(method, 8)
    local.writeUInt16LE(nameBytes.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(flags, 8)
    central.writeUInt16LE(method, 10)
    central.writeUInt32LE(raw.crc, 16)
    central.writeUInt32LE(entry.compressedSize ?? raw.bytes.length, 20)
    central.writeUInt32LE(entry.size ?? raw.size, 24)
    central.writeUInt16LE(nameBytes.length, 28)
    central.writeUInt32LE(entry.at ?? offset, 42)
    directory.push(central, nameBytes)
    if (entry.at === undefined) {
      parts.push(local, nameBytes, raw.bytes)
      offset += 30 + nameBytes.length + raw.bytes.length
    }
  }
  const directoryBytes = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(count, 0xffff), 10)
  end.writeUInt32LE(directoryBytes.length, 12)
  end.writeUInt32LE(start < 0 ? offset : start, 16)
  return Buffer.concat([...parts, directoryBytes, end])
}

/** A spreadsheet with these parts besides those that every spreadsheet has. */
export function spreadsheetOf(parts: Readonly<Record<string, Buffer | string>>): Buffer {
  const usual: Record<string, Buffer | string> = {
    'xl/workbook.xml': '<workbook><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': '<worksheet><sheetData/></worksheet>',
  }
  return archiveOf(
    Object.entries({ ...usual, ...parts }).map(([name, content]) => ({ name, content: Buffer.from(content) })),
  )
}

/** A PDF file of these objects, numbered from 1. */
export function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  let at = parts[0]?.length ?? 0
  const push = (part: string | Buffer) => {
    const bytes = Buffer.from(part)
    parts.push(bytes)
    at += bytes.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(at)
    push(`${index + 1} 0 obj\n`)
    push(object)
    push('\nendobj\n')
  }
  const start = at
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`)
  push(`trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`)
  return Buffer.concat(parts)
}

export function streamOf(dictionary: string, bytes: Buffer | string): Buffer {
  const content = Buffer.from(bytes)
  return Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${content.length} >>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ])
}
