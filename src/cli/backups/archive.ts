import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createTarDecoder, createTarPacker, type ParsedTarEntry, type TarPackController } from 'modern-tar'

/** A file to put into an archive: its path on disk and its name in the archive. */
export type ArchiveSource = { path: string; name: string }

export type ArchiveSources = AsyncIterable<ArchiveSource> | Iterable<ArchiveSource>

/** The bytes of the archive that `writeArchive` writes. */
export async function* archivePieces(
  sources: ArchiveSources,
  left: (name: string) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const packing = pack(controller, sources, left)
  // An error of the packer also ends the stream, so the loop below throws it.
  packing.catch(() => undefined)
  yield* readable as unknown as AsyncIterable<Uint8Array>
  await packing
}

/**
 * Writes a tar file that only its owner can read, and resolves when it is on disk. Reads and writes in pieces, so files
 * may have any size. A source that no longer exists when its turn comes is skipped and reported to `left`. The last
 * entry is a checksum of all names and contents, because a database does not notice every changed byte.
 */
export async function writeArchive(
  path: string,
  sources: ArchiveSources,
  left: (name: string) => void = () => {},
): Promise<void> {
  const target = await open(path, 'wx', 0o600)
  try {
    for await (const piece of archivePieces(sources, left)) await writeAll(target, piece)
    await target.sync()
  } finally {
    await target.close()
  }
}

/**
 * Unpacks an archive of `writeArchive` into a folder; returns the names of the files. Rejects names that `isExpected`
 * does not know, entries that are not plain files, and damaged or incomplete archives. Some files may then be in the
 * folder already.
 */
export async function readArchive(
  path: string,
  folder: string,
  isExpected: (name: string) => boolean,
): Promise<string[]> {
  const names: string[] = []
  const hash = new Bun.CryptoHasher('sha256')
  let checksum: string | undefined
  const entries = Bun.file(path)
    .stream()
    .pipeThrough(createTarDecoder({ strict: true }))
  for await (const entry of entries as unknown as AsyncIterable<ParsedTarEntry>) {
    const { name, type, size } = entry.header
    if (type === 'file' && name === checksumName && size === checksumBytes && checksum === undefined) {
      checksum = await new Response(entry.body).text()
      continue
    }
    if (type !== 'file' || !isExpected(name) || checksum !== undefined) {
      throw new ArchiveError(`It contains ${JSON.stringify(name)} (${type}), which is not part of a backup.`)
    }
    hash.update(`${name}\0${size}\0`)
    await unpack(entry, join(folder, name), hash)
    names.push(name)
  }
  if (checksum === undefined) throw new ArchiveError('It contains no checksum.')
  if (checksum !== hash.digest('hex')) throw new ArchiveError('Its bytes have changed since it was written.')
  return names
}

/** An archive that was not written by `writeArchive`, or that has changed since. */
export class ArchiveError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ArchiveError'
  }
}

const pieceBytes = 1_048_576
const checksumName = 'sha256'
const checksumBytes = 64

async function pack(
  controller: TarPackController,
  sources: ArchiveSources,
  left: (name: string) => void,
): Promise<void> {
  const hash = new Bun.CryptoHasher('sha256')
  try {
    for await (const source of sources) {
      const file = await openIfThere(source.path)
      if (!file) {
        left(source.name)
        continue
      }
      try {
        await packFile(controller, source, file, hash)
      } finally {
        await file.close()
      }
    }
    const checksum = controller.add({ name: checksumName, size: checksumBytes, mode: 0o600, type: 'file' }).getWriter()
    await checksum.write(new TextEncoder().encode(hash.digest('hex')))
    await checksum.close()
    controller.finalize()
  } catch (error) {
    controller.error(error)
    throw error
  }
}

async function packFile(
  controller: TarPackController,
  { name, path }: ArchiveSource,
  file: FileHandle,
  hash: Bun.CryptoHasher,
): Promise<void> {
  const { size, mtime } = await file.stat()
  hash.update(`${name}\0${size}\0`)
  const entry = controller.add({ name, size, mtime, mode: 0o600, type: 'file' }).getWriter()
  for (let at = 0; at < size; ) {
    // A new buffer each time: the archive keeps it until it is written.
    const piece = new Uint8Array(Math.min(pieceBytes, size - at))
    const { bytesRead } = await file.read(piece, 0, piece.length, at)
    if (bytesRead === 0) throw new Error(`${path} became shorter while it was read.`)
    const read = piece.subarray(0, bytesRead)
    hash.update(read)
    await entry.write(read)
    at += bytesRead
  }
  await entry.close()
}

async function unpack({ body }: ParsedTarEntry, path: string, hash: Bun.CryptoHasher): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // The flag `x` rejects a name that occurs twice.
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of body) {
      hash.update(piece)
      await writeAll(file, piece)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await file.write(piece, at, piece.length - at)
    at += bytesWritten
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
