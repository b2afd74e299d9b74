import type { Connector } from '../domain/connector/connector.ts'
import { builtInTexts } from './built-in-texts.ts'

/** The connectors that come with the service. Each is parsed on first use: most are never used. */
export class BuiltIn {
  readonly #parsed = new Map<string, Connector>()

  find(id: string): Connector | undefined {
    const known = this.#parsed.get(id)
    if (known) return known
    const text = builtInTexts.get(id)
    if (text === undefined) return undefined
    const connector = JSON.parse(text) as Connector
    this.#parsed.set(id, connector)
    return connector
  }

  /** All of them, by name. */
  list(): Connector[] {
    const all = [...builtInTexts.keys()].map((id) => this.find(id)!)
    return all.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
  }
}
