import { normaliseName } from '../../domain/workflow/reference.ts'
import { FreeTexts } from './free-texts.ts'

const charsMax = 200

/** Names and IDs for imported blocks: valid, unique, and the same as in the file if possible. */
export class Names {
  /** References ignore case and spaces, so two names must differ in more than that. */
  readonly #names = new FreeTexts([], normaliseName)
  readonly #ids = new FreeTexts(['__proto__'])

  nameFor(wanted: string, otherwise: string): string {
    const base = validName(wanted) || validName(otherwise) || 'Block'
    return this.#names.free(base, (number) => `${startOf(base, charsMax - 10).trim()} ${number}`)
  }

  /** Reserves the ID of a block in the file. Undefined if a document cannot have it. */
  keepId(id: string): string | undefined {
    if (id === '' || id.length > charsMax || this.#ids.has(id)) return undefined
    this.#ids.take(id)
    return id
  }

  idFor(base: string): string {
    const short = base.slice(0, charsMax - 10)
    return this.#ids.free(short, (number) => `${short}-${number}`)
  }
}

function validName(name: string): string {
  const clean = name.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').replaceAll(/[.<>]+/g, ' ')
  return startOf(clean.trim(), charsMax).trim()
}

/** At most this many characters of a text. It does not end with half a surrogate pair. */
export function startOf(text: string, chars: number): string {
  return text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')
}
