import type { FillEach } from '../block.ts'
import type { GraphNode } from './graph.ts'
import type { Member, Parameters } from './parameter-reader.ts'
import { GivenValues, type Place } from './reference-resolver.ts'

/** The parameters of a block that repeats its work for each item of a list; undefined for any other block. */
export function repeatedOf({ definition }: GraphNode, given: Record<string, unknown>): Repeated | undefined {
  const name = definition.repeatedBy
  return name === undefined || (given[name] ?? null) === null ? undefined : new Repeated(name)
}

/** The list is read first. For each item, all other parameters are read anew. */
class Repeated {
  readonly #name: string
  readonly #values = new GivenValues()

  constructor(name: string) {
    this.#name = name
  }

  /** Where the references of a parameter are resolved. All but the list itself can read the item. */
  placeOf(parameter: string, at: Place): Place {
    if (parameter === this.#name) return at
    return { ...at, given: [...(at.given ?? []), { name: this.#name, values: this.#values }] }
  }

  readerOf(members: readonly Member[], reader: (some: readonly Member[]) => Parameters): Parameters {
    const list = reader(members.filter(({ name }) => name === this.#name))
    const others = reader(members.filter(({ name }) => name !== this.#name))
    return (frame) => {
      const each: FillEach = (item) => this.#values.during(item, () => others(frame))
      return { ...list(frame), each }
    }
  }
}
