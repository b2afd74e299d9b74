import { forgetOldest } from '../domain/forget-oldest.ts'
import type { Address } from '../domain/trigger.ts'
import type { Deployment } from './deployments.ts'

export type AddressesOptions = {
  /** The workflow that an address leads to. */
  find(address: Address): Promise<string | undefined>
  deployments: {
    get(workflowId: string): Deployment | undefined
    load(workflowId: string): Promise<Deployment | undefined>
  }
  /** Addresses remembered at most; the ones found longest ago go first. */
  rememberedMax?: number
}

/**
 * What addresses lead to, in memory. Nobody has to say when an address moves: one that is remembered counts only if the
 * active version of the workflow has it, else the store is asked.
 */
export class Addresses {
  readonly #options: AddressesOptions
  readonly #rememberedMax: number
  /** Workflows by address, in the order in which they were found. */
  readonly #known = new Map<string, string>()

  constructor(options: AddressesOptions) {
    this.#options = options
    this.#rememberedMax = options.rememberedMax ?? 10_000
  }

  /** The active version with this address; at once when it is in memory. Undefined when there is none. */
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
