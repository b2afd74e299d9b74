/** Reads a WebAssembly file: numbers, names, and whole instructions without interpreting them. */
export class WasmReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw new Error('The WebAssembly file ends too early')
    return byte
  }

  /** An unsigned number in LEB128. */
  unsigned(): number {
    let value = 0
    for (let weight = 1; ; weight *= 128) {
      const byte = this.byte()
      value += (byte % 128) * weight
      if (byte < 128) return value
    }
  }

  /** Skips a number in LEB128. */
  skipNumber(): void {
    while (this.byte() >= 128) {}
  }

  text(): string {
    const length = this.unsigned()
    this.at += length
    return utf8.decode(this.bytes.subarray(this.at - length, this.at))
  }

  /** Reads one instruction and returns its code, from `0xfc00` for those of two bytes. Throws for unknown ones. */
  instruction(): number {
    const first = this.byte()
    const code = first === longPrefix ? longPrefix * 256 + this.unsigned() : first
    const parts = first === longPrefix ? longInstructions[code % 256] : instructions[code]
    if (parts === undefined)
      throw new Error(`The WebAssembly file has an unknown instruction: ${code} before ${this.at}`)
    for (const part of parts) this.#skipPart(part)
    return code
  }

  #skipPart(part: string): void {
    if (part === 'b') this.at++
    else if (part === 'n') this.skipNumber()
    else for (let left = this.unsigned() + 1; left > 0; left--) this.skipNumber()
  }
}

/** An unsigned number as LEB128. */
export function leb(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...leb(Math.floor(value / 128))]
}

/** A non-negative number as signed LEB128: in the last byte, 64 is the sign bit. */
export function signedLeb(value: number): number[] {
  return value < 64 ? [value] : [(value % 128) + 128, ...signedLeb(Math.floor(value / 128))]
}

/**
 * The parts after the first byte of an instruction, by ranges of that byte: `b` for a byte, `n` for a number, `t` for a
 * table of numbers and one more. This is WebAssembly 2.0 without vectors.
 */
const ranges: readonly [first: number, last: number, parts: string][] = [
  [0x00, 0x01, ''],
  [0x02, 0x04, 'n'], // block, loop, if
  [0x05, 0x05, ''],
  [0x0b, 0x0b, ''],
  [0x0c, 0x0d, 'n'], // br, br_if
  [0x0e, 0x0e, 't'], // br_table
  [0x0f, 0x0f, ''],
  [0x10, 0x10, 'n'], // call
  [0x11, 0x11, 'nn'], // call_indirect
  [0x1a, 0x1b, ''],
  [0x20, 0x26, 'n'], // variables, tables
  [0x28, 0x3e, 'nn'], // loads, stores
  [0x3f, 0x40, 'n'], // memory.size, memory.grow
  [0x41, 0x42, 'n'], // i32.const, i64.const
  [0x43, 0x43, 'bbbb'], // f32.const
  [0x44, 0x44, 'bbbbbbbb'], // f64.const
  [0x45, 0xc4, ''],
  [0xd0, 0xd0, 'n'],
  [0xd1, 0xd1, ''],
  [0xd2, 0xd2, 'n'],
]

const instructions: readonly (string | undefined)[] = Array.from({ length: 256 }, (_, code) => {
  const range = ranges.find(([first, last]) => code >= first && code <= last)
  return range?.[2]
})

const longPrefix = 0xfc
/** Eight conversions, then memory.init, data.drop, memory.copy, memory.fill. */
const longInstructions = ['', '', '', '', '', '', '', '', 'nn', 'n', 'nn', 'n']

const utf8 = new TextDecoder()
