import { readFileSync } from 'node:fs'
import path from 'quickjs-wasi/quickjs.wasm' with { type: 'file' }
import { boundEngine } from './engine-bounds.ts'
import { pageBytes } from './memory.ts'

/**
 * Compiles the JavaScript engine (QuickJS as WebAssembly) that runs user code. This takes about 20 ms. The engine gets
 * twice the memory that user code may use, because copies of input and output, and gaps between allocations, need room
 * too.
 */
export function compileEngine(memoryBytesMax: number): WebAssembly.Module {
  return new WebAssembly.Module(boundEngine(readFileSync(path), Math.ceil((memoryBytesMax * 2) / pageBytes)))
}
