import type { Connector } from '../domain/connector/connector.ts'

/** The connectors that come with the service. Their texts are loaded on first use, and each is parsed on its own. */
export class BuiltIn {
  readonly #parsed = new Map<string, Connector>()

  async find(id: string): Promise<Connector | undefined> {
    const known = this.#parsed.get(id)
    if (known) return known
    const { builtInTexts } = await import('./built-in-texts.ts')
    const text = builtInTexts.get(id)
    if (text === undefined) return undefined
    const connector = JSON.parse(text) as Connector
    this.#parsed.set(id, connector)
    return connector
  }

  /** All of them, by name. */
  async list(): Promise<Connector[]> {
    const { builtInTexts } = await import('./built-in-texts.ts')
    const all = await Promise.all(Array.from(builtInTexts.keys(), async (id) => (await this.find(id))!))
    return all.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
  }
}
