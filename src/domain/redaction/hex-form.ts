import { anchorOf, requiredCharsMax } from './anchors.ts'
import type { Occurrence, SecretForm } from './secret-form.ts'

/** The forms that find the hex digits of a secret's bytes, in either case. */
export function hexForms(value: string): SecretForm[] {
  const hex = new TextEncoder().encode(value).toHex()
  const start = hex.slice(0, 2 * requiredCharsMax)
  // Decimal digits are the same in both cases.
  const digits = anchorOf(start.match(/\d+/g), digitsMin)
  const tail = start.slice(-anchorChars)
  const anchors = digits === undefined ? new Set([tail, tail.toUpperCase()]) : [digits]
  return Array.from(anchors, (anchor) => new HexForm(anchor, hex))
}

const digitsMin = 7
const anchorChars = 8

class HexForm implements SecretForm {
  readonly anchor: string
  readonly #hex: string
  readonly #start: RegExp

  constructor(anchor: string, hex: string) {
    this.anchor = anchor
    this.#hex = hex
    this.#start = new RegExp(hex.slice(0, 2 * requiredCharsMax), 'gi')
  }

  find(text: string): Occurrence[] {
    return Array.from(text.matchAll(this.#start), ({ index, 0: { length } }) => {
      let count = length
      while (count < this.#hex.length && text[index + count]?.toLowerCase() === this.#hex[count]) count += 1
      return { start: index, end: index + count }
    })
  }
}
