import path from 'quickjs-wasi/quickjs.wasm' with { type: 'file' }
import { pageBytes } from './memory.ts'

/**
 * Compiles the engine, off this thread. Its memory is given an upper bound, which the published file does not have: the
 * engine's own limit counts what it allocates, this one holds for everything, fragmentation and copies included.
 */
export async function compileEngine(memoryBytesMax: number): Promise<WebAssembly.Module> {
  const file = new Uint8Array(await Bun.file(path).arrayBuffer())
  return WebAssembly.compile(boundMemory(file, Math.ceil((memoryBytesMax * 2) / pageBytes)))
}

const memorySection = 5

/** Rewrites the memory section (one memory, a minimum and no maximum) with a maximum. */
export function boundMemory(file: Uint8Array, pagesMax: number): Uint8Array<ArrayBuffer> {
  let at = 8
  while (at < file.length) {
    const id = file[at]
    const size = readLeb(file, at + 1)
    const end = size.next + size.value
    if (id === memorySection) {
      const flags = file[size.next + 1]
      const minimum = readLeb(file, size.next + 2)
      if (file[size.next] !== 1 || flags !== 0) throw new Error('The engine file declares its memory in a new way')
      const body = [1, 1, ...leb(minimum.value), ...leb(Math.max(pagesMax, minimum.value))]
      return join([
        file.subarray(0, at),
        Uint8Array.of(memorySection, ...leb(body.length), ...body),
        file.subarray(end),
      ])
    }
    at = end
  }
  throw new Error('The engine file has no memory')
}

function readLeb(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return { value, next: at }
  }
}

function leb(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) | 0x80)
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
