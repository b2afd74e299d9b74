import { leb, signedLeb, WasmReader } from './wasm-reader.ts'

/**
 * Rewrites the engine's file so that two bounds hold whatever user code does.
 *
 * Memory gets a maximum: the engine's own limit counts what it allocates, this one holds for everything.
 *
 * Loops are metered. The engine asks its host now and then whether to go on, but not inside many of its built-in
 * functions: `[].reverse.call({ length: 2 ** 53 })` never does, and a search in a long string not for days. Terminating
 * the worker does not help, since JavaScriptCore looks for that at the entry of functions and not in loops: the thread
 * burns its core until the loop is done. So every loop counts down one common meter, and when that is at zero asks the
 * host, which ends the code with a trap. It costs 10 to 30 % of long computations and nothing of short runs.
 */
export function boundEngine(file: Uint8Array, pagesMax: number): Uint8Array<ArrayBuffer> {
  const reader = new WasmReader(file)
  const parts: Uint8Array[] = [file.subarray(0, headerBytes)]
  let interrupt: number | undefined
  let meter: number | undefined
  reader.at = headerBytes
  while (reader.at < file.length) {
    const start = reader.at
    const id = reader.byte()
    const end = reader.unsigned() + reader.at
    const body = reader.at
    if (id === section.import) interrupt = importedFunction(reader, 'host_interrupt')
    else if (id === section.memory) parts.push(...made(id, boundedMemory(reader, pagesMax)))
    else if (id === section.global) {
      meter = reader.unsigned()
      const others = file.subarray(reader.at, end)
      parts.push(...made(id, [Uint8Array.of(...leb(meter + 1)), others, Uint8Array.of(i32, mutable, ...interval, op.end)]))
    } else if (id === section.code) {
      if (interrupt === undefined || meter === undefined) throw new Error('The engine file lacks imports or globals')
      parts.push(...made(id, meteredCode(reader, meterStep(meter, interrupt))))
    }
    const isCopied = id !== section.memory && id !== section.global && id !== section.code
    if (isCopied) parts.push(file.subarray(start, end))
    reader.at = end
  }
  return joined(parts)
}
