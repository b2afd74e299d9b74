import { freeBytes } from '../../../domain/free-bytes.ts'
import { lengthOfWrite, type Write } from '../../../domain/run/write.ts'

/** A large write on its way to the storage thread. The texts of a log entry are encoded. */
export type PackedWrite = { write: Write; texts: { finalOutput: Uint8Array; traceSpans: Uint8Array } | undefined }

/** Smaller writes cost less than packing them. */
const largeBytes = 131_072

/**
 * Packs a large write, so that its long parts change their thread in `buffers` and are not copied: the structured clone
 * of a text takes 5 ms per megabyte in the service's thread, and three times its memory. Its bytes are gone afterwards.
 * Undefined for other groups; a writer commits a large write alone.
 */
export function packLarge(writes: readonly Write[]): { packed: PackedWrite; buffers: ArrayBuffer[] } | undefined {
  const [write] = writes
  if (!write || writes.length > 1 || lengthOfWrite(write) < largeBytes) return undefined
  if (write.kind !== 'log') return { packed: { write, texts: undefined }, buffers: buffersOf([bytesOf(write)]) }
  const { row, output } = write
  const texts = { finalOutput: encoder.encode(row.finalOutput), traceSpans: encoder.encode(row.traceSpans) }
  const packed = { write: { ...write, row: { ...row, finalOutput: '', traceSpans: '' } }, texts }
  return { packed, buffers: buffersOf([texts.finalOutput, texts.traceSpans, output]) }
}

export function unpack({ write, texts }: PackedWrite): Write {
  if (write.kind !== 'log' || !texts) return write
  const row = { ...write.row, finalOutput: textOf(texts.finalOutput), traceSpans: textOf(texts.traceSpans) }
  return { ...write, row }
}

/** Frees the bytes of a write that is done. */
export function freeWrite(write: Write): void {
  const bytes = write.kind === 'log' ? write.output : bytesOf(write)
  if (bytes) freeBytes(bytes)
}

function textOf(bytes: Uint8Array): string {
  const text = decoder.decode(bytes)
  freeBytes(bytes)
  return text
}

function bytesOf(write: Write): Uint8Array | null {
  if (write.kind === 'job') return write.row.input
  return write.kind === 'job-step' || write.kind === 'chat' ? write.content : null
}

/** Bytes within a larger buffer are copied. */
function buffersOf(all: readonly (Uint8Array | null)[]): ArrayBuffer[] {
  return all.flatMap((bytes) => {
    const isWhole =
      bytes !== null && bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    return isWhole ? [bytes.buffer as ArrayBuffer] : []
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
