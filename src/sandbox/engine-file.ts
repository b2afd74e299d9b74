import { readFileSync } from 'node:fs'
import path from 'quickjs-wasi/quickjs.wasm' with { type: 'file' }
import { boundEngine } from './engine-bounds.ts'
import { pageBytes } from './memory.ts'

/**
 * Compiles the engine, which takes some 20 ms of this thread. Its memory is twice as large as what user code may use: the
 * host's copies of what goes in and out, and gaps between what is used, need room too.
 */
export function compileEngine(memoryBytesMax: number): WebAssembly.Module {
  return new WebAssembly.Module(boundEngine(readFileSync(path), Math.ceil((memoryBytesMax * 2) / pageBytes)))
}
