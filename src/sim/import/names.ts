import { normaliseName } from '../../domain/workflow/reference.ts'

const charsMax = 200

/** Names and IDs for imported blocks: valid, unique, and the same as before wherever possible. */
export class Names {
  readonly #names = new Set<string>()
  readonly #ids = new Set<string>()

  /** A block's name. References ignore case and spaces, so two names must differ in more than that. */
  nameFor(wanted: string, otherwise: string): string {
    const base = validName(wanted) || validName(otherwise) || 'Block'
    let name = base
    for (let copy = 2; this.#names.has(normaliseName(name)); copy += 1) {
      const end = ` ${copy}`
      name = base.slice(0, charsMax - end.length) + end
    }
    this.#names.add(normaliseName(name))
    return name
  }

  /** Reserves the ID of a block in the file. Undefined if a document cannot have it. */
  keepId(id: string): string | undefined {
    if (id === '' || id.length > charsMax || id === '__proto__' || this.#ids.has(id)) return undefined
    this.#ids.add(id)
    return id
  }

  idFor(base: string): string {
    const short = base.slice(0, charsMax - 10)
    let id = short
    for (let copy = 2; this.#ids.has(id); copy += 1) id = `${short}-${copy}`
    this.#ids.add(id)
    return id
  }
}

function validName(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .replaceAll(/[.<>]+/g, ' ')
    .trim()
    .slice(0, charsMax)
    .trim()
}
