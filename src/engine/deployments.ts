import { forgetOldest } from '../domain/forget-oldest.ts'
import type { Limits } from '../domain/limits.ts'
import type { PriceOf } from '../domain/model-prices.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow.ts'
import { draftInReach, type Reach } from './draft-in-reach.ts'
import type { Registry } from './graph.ts'
import { type Compilation, compilePlan, type Plan } from './plan.ts'

/** A workflow as it can be executed: its active version, compiled; `plan` null when it is not deployed. */
export type Deployment = {
  workflowId: string
  workspaceId: string
  /** The account that the workspace belongs to. */
  ownerId: string
  version: number | null
  plan: Plan | null
  /** Why a stored version cannot run any more (a block type that is gone, say). Empty otherwise. */
  findings: readonly Finding[]
}

export type DeploymentsOptions = {
  registry: Registry
  limits: Limits
  /** Models whose price is known; the built-in table's when absent. */
  priceOf?: PriceOf
  /** Plans of active versions kept at most: the ones not used for longest go first. Of versions as many, the oldest in memory first. */
  plansMax?: number
  getActive(workflowId: string): Promise<ActiveDeployment | undefined>
  /** One version, also of a workflow that is deleted, and whether it is active or not. */
  getVersion(workflowId: string, version: number): Promise<ActiveDeployment | undefined>
}

export type ActiveDeployment = {
  workflowId: string
  workspaceId: string
  ownerId: string
  deployment: { version: number; document: WorkflowDocument } | null
}

/** A compiled plan takes some kilobytes. */
const plansMaxDefault = 1_000

/** Compiled plans, kept in step with the store: whoever changes a deployment calls `forget`. */
export class Deployments {
  readonly #options: DeploymentsOptions
  readonly #plansMax: number
  /** In the order of use, the latest last. */
  readonly #known = new Map<string, Deployment>()
  readonly #loading = new Map<string, Promise<Deployment | undefined>>()
  /** By workflow and version; these never change. */
  readonly #versions = new Map<string, Deployment>()
  #latest: Deployment | undefined
  /** Rises with every change. */
  #generation = 0

  constructor(options: DeploymentsOptions) {
    this.#options = options
    this.#plansMax = options.plansMax ?? plansMaxDefault
  }

  /** The meaning of a document: every finding, and the plan when none of them is an error. */
  check(document: WorkflowDocument): Compilation {
    const { registry, limits, priceOf } = this.#options
    return compilePlan(document, registry, limits, priceOf)
  }

  /** The same for a run by hand, for which faults of blocks that it cannot come to are warnings. */
  checkInReach(document: WorkflowDocument, reach: Reach): Compilation {
    const whole = this.check(document)
    if (whole.plan) return whole
    const { registry, limits, priceOf } = this.#options
    const draft = draftInReach(document, whole.findings, reach, registry)
    const compiled = draft && compilePlan(draft.document, draft.registry, limits, priceOf)
    if (!draft || !compiled?.plan) return whole
    const { reads } = compiled.plan
    const readsStandIn = [...draft.reached].some((id) => !draft.standIns.isDisjointFrom(reads.get(id) ?? new Set()))
    // One block alone works with what others gave earlier: those have to be what they were.
    if ('only' in reach && readsStandIn) return whole
    return { ...compiled, findings: whole.findings.map((finding) => ({ ...finding, level: 'warning' as const })) }
  }

  /** Undefined when it is not in memory: `load` it then. */
  get(workflowId: string): Deployment | undefined {
    if (this.#latest?.workflowId === workflowId) return this.#latest
    const known = this.#known.get(workflowId)
    if (!known) return undefined
    this.#known.delete(workflowId)
    this.#known.set(workflowId, known)
    this.#latest = known
    return known
  }

  /** Undefined when there is no such workflow. Concurrent calls share one look-up. */
  load(workflowId: string): Promise<Deployment | undefined> {
    const known = this.get(workflowId)
    if (known) return Promise.resolve(known)
    const under = this.#loading.get(workflowId)
    if (under) return under
    const loading = this.#load(workflowId).finally(() => {
      if (this.#loading.get(workflowId) === loading) this.#loading.delete(workflowId)
    })
    this.#loading.set(workflowId, loading)
    return loading
  }

  /** One version, which may not be the active one. Undefined when there is none. */
  async loadVersion(workflowId: string, version: number): Promise<Deployment | undefined> {
    const active = this.get(workflowId)
    if (active?.version === version) return active
    const key = `${workflowId} ${version}`
    const known = this.#versions.get(key)
    if (known) return known
    const row = await this.#options.getVersion(workflowId, version)
    if (!row) return undefined
    const loaded = this.#compile(row)
    this.#versions.set(key, loaded)
    forgetOldest(this.#versions, this.#plansMax)
    return loaded
  }

  /** After a deployment has changed: the next run reads it anew. */
  forget(workflowId: string): void {
    this.#generation += 1
    this.#known.delete(workflowId)
    this.#loading.delete(workflowId)
    if (this.#latest?.workflowId === workflowId) this.#latest = undefined
  }

  async #load(workflowId: string): Promise<Deployment | undefined> {
    const generation = this.#generation
    const row = await this.#options.getActive(workflowId)
    if (!row) return undefined
    const loaded = this.#compile(row)
    // A change while this was read must not be hidden by what was read before it.
    if (generation === this.#generation) this.#keep(loaded)
    return loaded
  }

  #compile({ workflowId, workspaceId, ownerId, deployment }: ActiveDeployment): Deployment {
    const compilation = deployment && this.check(deployment.document)
    return {
      workflowId,
      workspaceId,
      ownerId,
      version: deployment?.version ?? null,
      plan: compilation?.plan ?? null,
      findings: compilation?.findings.filter(({ level }) => level === 'error') ?? [],
    }
  }

  #keep(deployment: Deployment): void {
    this.#known.set(deployment.workflowId, deployment)
    const forgotten = forgetOldest(this.#known, this.#plansMax)
    if (this.#latest?.workflowId === forgotten) this.#latest = undefined
  }
}
