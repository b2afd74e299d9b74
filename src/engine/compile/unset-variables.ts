import type { Finding } from '../../domain/workflow/workflow.ts'
import type { GraphNode } from './graph.ts'

/** A place of a document that reads an environment variable. */
export type EnvironmentUse = { name: string; path: string; block: GraphNode['block'] }

/** The places that read environment variables. A place that reads the same variable twice counts once. */
export class EnvironmentUses {
  readonly #byPlace = new Map<string, EnvironmentUse>()

  get all(): readonly EnvironmentUse[] {
    return [...this.#byPlace.values()]
  }

  add(name: string, path: string, { block }: GraphNode): void {
    // A disabled block does not read its parameters.
    if (block.enabled !== false) this.#byPlace.set(`${name} ${path}`, { name, path, block })
  }
}

/** A warning for each place that reads an environment variable without a value. `set`: the variables that have one. */
export function unsetVariables(uses: readonly EnvironmentUse[], set: ReadonlySet<string>): Finding[] {
  return uses.flatMap(({ name, path, block }): Finding[] => {
    if (set.has(name)) return []
    const message =
      `The environment variable {{${name}}} is not set in this workspace, so "${block.name}" will fail. ` +
      `Create it, or correct the name.`
    return [{ level: 'warning', code: 'UNSET_VARIABLE', path, blockId: block.id, blockName: block.name, message }]
  })
}
