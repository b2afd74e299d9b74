import { forgetOldest } from '../domain/forget-oldest.ts'
import type { Address } from '../domain/workflow/trigger.ts'
import type { Deployment } from './deployments.ts'

export type AddressesOptions = {
  /** The id of the workflow with an address, from the store. */
  find(address: Address): Promise<string | undefined>
  deployments: {
    get(workflowId: string): Deployment | undefined
    load(workflowId: string): Promise<Deployment | undefined>
  }
  /** Addresses in memory at most. The one that was found first is dropped first. */
  rememberedMax?: number
}

/**
 * Finds workflows by their addresses, and remembers them. A remembered address is valid only if the active version of
 * the workflow has it; otherwise the store is asked. So nothing needs to be invalidated when an address changes.
 */
export class Addresses {
  readonly #options: AddressesOptions
  readonly #rememberedMax: number
  /** Workflow ids by address, in the order in which they were found. */
  readonly #known = new Map<string, string>()

  constructor(options: AddressesOptions) {
    this.#options = options
    this.#rememberedMax = options.rememberedMax ?? 10_000
  }

  /** The active version with this address; undefined when there is none. Returns no promise when it is in memory. */
  at(address: Address): Deployment | undefined | Promise<Deployment | undefined> {
    const workflowId = this.#known.get(keyOf(address))
    const deployment = workflowId === undefined ? undefined : this.#options.deployments.get(workflowId)
    return deployment && isAt(deployment, address) ? deployment : this.#find(address)
  }

  async #find(address: Address): Promise<Deployment | undefined> {
    const key = keyOf(address)
    this.#known.delete(key)
    const workflowId = await this.#options.find(address)
    if (workflowId === undefined) return undefined
    const deployment = await this.#options.deployments.load(workflowId)
    if (!deployment || !isAt(deployment, address)) return undefined
    this.#known.set(key, workflowId)
    forgetOldest(this.#known, this.#rememberedMax)
    return deployment
  }
}

function keyOf({ kind, name }: Address): string {
  return `${kind} ${name}`
}

function isAt({ plan }: Deployment, { kind, name }: Address): boolean {
  const address = plan?.triggers.get(kind)?.registration.address
  return address?.kind === kind && address.name === name
}
