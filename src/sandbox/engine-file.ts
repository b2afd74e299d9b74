import { readFileSync } from 'node:fs'
import path from 'quickjs-wasi/quickjs.wasm' with { type: 'file' }
import { boundEngine } from './engine-bounds.ts'
import { pageBytes } from './memory.ts'

/**
 * Compiles the engine, which takes about 20 ms. Its memory is twice as large as user code may use: copies of input and
 * output, and gaps between allocations, need room too.
 */
export function compileEngine(memoryBytesMax: number): WebAssembly.Module {
  return new WebAssembly.Module(boundEngine(readFileSync(path), Math.ceil((memoryBytesMax * 2) / pageBytes)))
}
