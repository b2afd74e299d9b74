import { leb, signedLeb, WasmReader } from './wasm-reader.ts'

/**
 * Rewrites the WebAssembly file of the JavaScript engine so that user code can exceed neither its memory nor its time.
 *
 * Memory: the WebAssembly memory has its maximum size from the start, which costs nothing until it is used. A global
 * variable, exported as `pages`, says how much of it the engine may use. So that part can shrink again, and growing it
 * is free. Growing a WebAssembly memory is not: JavaScriptCore can grow eight memories of a process in place, and
 * copies each further one as a whole for every 64 KB (7 ms at 64 MB).
 *
 * Time: loops are metered. The engine asks its host regularly whether to continue, but not inside many built-in
 * functions: `[].reverse.call({ length: 2 ** 53 })` never asks, and a search in a long string may ask only after days.
 * Terminating the worker does not help: JavaScriptCore checks for that when a function is entered, not in loops, so the
 * thread would keep its core busy until the loop ends. Therefore every loop, and every instruction that moves a block
 * of memory, decrements one common meter and asks the host when it reaches zero. If the host says stop, the code ends
 * with a trap. Short runs take the same time as without the meter, long computations 10 to 30 % more.
 */
export function boundEngine(file: Uint8Array, pagesMax: number): Uint8Array<ArrayBuffer> {
  const reader = new WasmReader(file)
  const parts: Uint8Array[] = [file.subarray(0, headerBytes)]
  /** Index of the imported function, number of globals, and minimum memory in pages; -1 until they are known. */
  const found = { interrupt: -1, globals: -1, pages: -1 }
  for (reader.at = headerBytes; reader.at < file.length; ) {
    const start = reader.at
    const id = reader.byte()
    const size = reader.unsigned()
    const end = reader.at + size
    if (end > file.length) throw new Error('The engine file ends too early')
    switch (id) {
      case section.import:
        found.interrupt = importedFunction(reader, 'host_interrupt')
        parts.push(file.subarray(start, end))
        break
      case section.memory:
        found.pages = memoryMinimum(reader)
        parts.push(sectionOf(id, [1, 1, ...leb(pagesMax), ...leb(pagesMax)]))
        break
      case section.global: {
        found.globals = reader.unsigned()
        const added = [meterStart, signedLeb(0), signedLeb(found.pages)].flatMap(variable)
        parts.push(sectionOf(id, [...leb(found.globals + 3), ...file.subarray(reader.at, end), ...added]))
        break
      }
      case section.export: {
        const count = reader.unsigned()
        const added = [5, ...new TextEncoder().encode('pages'), exportedGlobal, ...leb(found.globals + 2)]
        parts.push(sectionOf(id, [...leb(count + 1), ...file.subarray(reader.at, end), ...added]))
        break
      }
      case section.code:
        if (Object.values(found).includes(-1))
          throw new Error('The sections of the engine file are in an unexpected order')
        parts.push(sectionOf(id, boundCode(reader, insertions(found.interrupt, found.globals, pagesMax))))
        break
      default:
        parts.push(file.subarray(start, end))
    }
    reader.at = end
  }
  return joined(parts)
}

/** The index of a function that the engine imports from its host. */
function importedFunction(reader: WasmReader, name: string): number {
  const count = reader.unsigned()
  for (let index = 0; index < count; index++) {
    reader.text()
    const isWanted = reader.text() === name
    if (reader.byte() !== 0) throw new Error('The engine file imports something other than functions')
    reader.skipNumber()
    if (isWanted) return index
  }
  throw new Error(`The engine file does not import ${name}`)
}

/** The size of the engine's memory at its start, in pages. */
function memoryMinimum(reader: WasmReader): number {
  const [count, flags, minimum] = [reader.unsigned(), reader.unsigned(), reader.unsigned()]
  if (count !== 1 || flags !== 0)
    throw new Error('The engine file must declare exactly one memory without a maximum size')
  return minimum
}

/** The code section, with the instructions inserted into each function. */
function boundCode(reader: WasmReader, inserted: Insertions): Uint8Array {
  const count = reader.unsigned()
  const parts: Uint8Array[] = [Uint8Array.from(leb(count))]
  for (let left = count; left > 0; left--) {
    const size = reader.unsigned()
    const body = boundBody(reader, reader.at + size, inserted)
    parts.push(Uint8Array.from(leb(body.length)), body)
  }
  return joined(parts)
}

/** One function: its variables, then its instructions. */
function boundBody(reader: WasmReader, end: number, inserted: Insertions): Uint8Array {
  const { at: start, bytes } = reader
  const isInterpreter = end - start >= interpreterBytesMin
  for (let groups = reader.unsigned(); groups > 0; groups--) {
    reader.skipNumber()
    reader.byte()
  }
  const parts: Uint8Array[] = []
  let copied = start
  const insert = (at: number, instructions: Uint8Array) => {
    parts.push(bytes.subarray(copied, at), instructions)
    copied = at
  }
  while (reader.at < end) {
    const at = reader.at
    const code = reader.instruction()
    if (code === op.loop && !isInterpreter) insert(reader.at, inserted.iteration)
    else if (code === op.memoryCopy || code === op.memoryFill) {
      insert(at, inserted.beforeBlock)
      insert(reader.at, inserted.afterBlock)
    } else if (code === op.memorySize || code === op.memoryGrow) {
      insert(at, code === op.memorySize ? inserted.size : inserted.grow)
      copied = reader.at
    }
  }
  return joined([...parts, bytes.subarray(copied, end)])
}

type Insertions = {
  /** At the start of each iteration of a loop. */
  iteration: Uint8Array
  /** Around an instruction that moves a block of memory, whose length is its last operand. */
  beforeBlock: Uint8Array
  afterBlock: Uint8Array
  /** Instead of `memory.size` and `memory.grow`. */
  size: Uint8Array
  grow: Uint8Array
}

function insertions(interrupt: number, globals: number, pagesMax: number): Insertions {
  const [meter, operand, pages] = [leb(globals), leb(globals + 1), leb(globals + 2)]
  const get = (variable: number[]) => [op.globalGet, ...variable]
  const set = (variable: number[]) => [op.globalSet, ...variable]
  const ask = [
    ...[...get(meter), op.const, 0, op.isAtMost, op.if, op.noValue],
    ...[op.call, ...leb(interrupt), op.if, op.noValue, op.unreachable, op.end],
    ...[op.const, ...meterStart, ...set(meter)],
    op.end,
  ]
  return {
    iteration: Uint8Array.from([...get(meter), op.const, 1, op.subtract, ...set(meter), ...ask]),
    beforeBlock: Uint8Array.from([...set(operand), ...get(operand)]),
    // 64 bytes count as one iteration.
    afterBlock: Uint8Array.from([
      ...[...get(meter), ...get(operand), op.const, 6, op.shiftRight, op.subtract, ...set(meter)],
      ...ask,
    ]),
    size: Uint8Array.from(get(pages)),
    grow: Uint8Array.from([
      ...set(operand),
      ...[...get(operand), op.const, ...signedLeb(pagesMax), ...get(pages), op.subtract, op.isMore],
      ...[op.if, integer, op.const, minusOne],
      ...[op.else, ...get(pages), ...get(operand), ...get(pages), op.add, ...set(pages), op.end],
    ]),
  }
}

/** The declaration of a global variable: a 32-bit integer that can change, with its first value. */
function variable(start: readonly number[]): number[] {
  return [integer, 1, op.const, ...start, op.end]
}

function sectionOf(id: number, body: Uint8Array | number[]): Uint8Array {
  return joined([Uint8Array.of(id, ...leb(body.length)), Uint8Array.from(body)])
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const headerBytes = 8
const section = { import: 2, memory: 5, global: 6, export: 7, code: 10 } as const
const exportedGlobal = 3
/** WebAssembly's type `i32`. */
const integer = 0x7f
const minusOne = 0x7f
const op = {
  unreachable: 0x00,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  call: 0x10,
  globalGet: 0x23,
  globalSet: 0x24,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  noValue: 0x40,
  const: 0x41,
  /** Unsigned. */
  isMore: 0x4b,
  /** Signed. */
  isAtMost: 0x4c,
  add: 0x6a,
  subtract: 0x6b,
  shiftRight: 0x76,
  memoryCopy: 0xfc0a,
  memoryFill: 0xfc0b,
} as const

/**
 * Only the engine's interpreter is a function of this size. Its main loop asks the host by itself, in every loop and
 * call of user code, and it is the one place where metering would be expensive.
 */
const interpreterBytesMin = 30_000

/** How many iterations, of all loops together, run before the host is asked. They take much less than a millisecond. */
const meterStart = signedLeb(50_000)
