import { jsonRefusal } from '../../domain/text/json.ts'
import { textOf } from '../sim-document.ts'

/** The sub-blocks of a block, by ID. It records which values a mapper took: the import keeps and reports the others. */
export class SimValues {
  readonly #values: ReadonlyMap<string, unknown>
  readonly #taken = new Set<string>()
  readonly #dropped = new Set<string>()

  constructor(values: ReadonlyMap<string, unknown>) {
    this.#values = values
  }

  /** Takes a value for our block; undefined when it is absent. */
  take(id: string): unknown {
    this.#taken.add(id)
    return this.#values.get(id)
  }

  /** Reads a value without taking it. */
  peek(id: string): unknown {
    return this.#values.get(id)
  }

  /** Takes a text; undefined when the value is absent or not text. Numbers and booleans become text. */
  text(id: string): string | undefined {
    const text = textOf(this.#values.get(id))
    if (text === '') return undefined
    this.#taken.add(id)
    return text
  }

  /** Takes a number, or text that is a number. Undefined for anything else, such as a reference. */
  number(id: string): number | undefined {
    const value = this.#values.get(id)
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number)) return undefined
    this.#taken.add(id)
    return number
  }

  /** Takes a value, or the value of JSON text. Other text is undefined and not taken. */
  json(id: string): unknown {
    const value = this.#values.get(id)
    const parsed = typeof value === 'string' ? parseJson(value) : value
    if (parsed !== undefined) this.#taken.add(id)
    return parsed
  }

  /** Takes values that the import must not keep: secrets, and values without a meaning here. */
  drop(...ids: string[]): void {
    for (const id of ids) {
      this.#taken.add(id)
      this.#dropped.add(id)
    }
  }

  /** The taken values, without the dropped ones. */
  taken(): Map<string, unknown> {
    return new Map([...this.#values].filter(([id]) => this.#taken.has(id) && !this.#dropped.has(id)))
  }

  /** The values that no mapper took. */
  rest(): [id: string, value: unknown][] {
    return [...this.#values].filter(([id]) => !this.#taken.has(id))
  }
}

/** The value of JSON text; undefined for anything else. */
export function parseJson(text: string): unknown {
  if (jsonRefusal(text) !== undefined) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
