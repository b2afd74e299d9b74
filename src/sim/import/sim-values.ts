import { jsonRefusal } from '../../domain/text/json.ts'
import { textOf } from '../sim-document.ts'

/** The sub-blocks of a block, by ID. It remembers which were taken, so that nothing is lost silently. */
export class SimValues {
  readonly #values: ReadonlyMap<string, unknown>
  readonly #taken = new Set<string>()
  readonly #dropped = new Set<string>()

  constructor(values: ReadonlyMap<string, unknown>) {
    this.#values = values
  }

  /** The value, which is now part of our block; undefined when it is absent. */
  take(id: string): unknown {
    this.#taken.add(id)
    return this.#values.get(id)
  }

  /** The value without taking it. */
  peek(id: string): unknown {
    return this.#values.get(id)
  }

  /** Takes a text; undefined when the value is absent or no text. A number or truth value becomes text. */
  text(id: string): string | undefined {
    const text = textOf(this.#values.get(id))
    if (text === '') return undefined
    this.#taken.add(id)
    return text
  }

  /** Takes a number, also one that is written as text. References stay text. */
  number(id: string): number | undefined {
    const value = this.#values.get(id)
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number)) return undefined
    this.#taken.add(id)
    return number
  }

  /** Takes a value that may be written as JSON. Text that is not JSON is undefined, and not taken. */
  json(id: string): unknown {
    const value = this.#values.get(id)
    const parsed = typeof value === 'string' ? parseJson(value) : value
    if (parsed !== undefined) this.#taken.add(id)
    return parsed
  }

  /** Says that a value must not be kept: it is a secret, means nothing in our block, or has another form there. */
  drop(...ids: string[]): void {
    for (const id of ids) {
      this.#taken.add(id)
      this.#dropped.add(id)
    }
  }

  /** The values that are part of our block. */
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
