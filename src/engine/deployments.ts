import { forgetOldest } from '../domain/forget-oldest.ts'
import type { Limits } from '../domain/limits.ts'
import type { Secret } from '../domain/redaction/redactor.ts'
import type { PriceOf } from '../domain/run/model-prices.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { CompileQueue } from './compile/compile-queue.ts'
import type { Registry } from './compile/graph.ts'
import { type Compilation, compileInSlices, type Plan } from './compile/plan.ts'
import { type Reach, reachablePart } from './manual/reachable-part.ts'

/** The compiled active version of a workflow. `plan` is null when the workflow is not deployed or cannot run. */
export type Deployment = {
  workflowId: string
  workspaceId: string
  /** The account that the workspace belongs to. */
  ownerId: string
  version: number | null
  plan: Plan | null
  /** Why a stored version can no longer run, such as a removed block type. Usually empty. */
  findings: readonly Finding[]
}

export type DeploymentsOptions = {
  registry: Registry
  limits: Limits
  /** The prices of models; those of the built-in table when absent. */
  priceOf?: PriceOf
  /**
   * The most plans of active versions in memory; the least recently used one is dropped first. The same number of plans
   * of other versions; the one loaded first is dropped first.
   */
  plansMax?: number
  getActive(workflowId: string): Promise<ActiveDeployment | undefined>
  /** Decrypts the secrets in a stored document. */
  openSecrets?(document: WorkflowDocument, workspaceId: string): Promise<WorkflowDocument>
  work: CompileQueue
  /** Receives the secrets that authors wrote in a document, before it runs. */
  hideSecrets?(workspaceId: string, secrets: readonly Secret[]): void
  /** Any version, also of a deleted workflow. */
  getVersion(workflowId: string, version: number): Promise<ActiveDeployment | undefined>
}

export type ActiveDeployment = {
  workflowId: string
  workspaceId: string
  ownerId: string
  deployment: { version: number; document: WorkflowDocument } | null
}

/** A compiled plan takes several kilobytes. */
const plansMaxDefault = 1_000

/** Compiled plans of deployed workflows. Every change of a deployment must call `forget`. */
export class Deployments {
  readonly #options: DeploymentsOptions
  readonly #plansMax: number
  /** In the order of use, the most recent last. */
  readonly #known = new Map<string, Deployment>()
  readonly #loading = new Map<string, Promise<Deployment | undefined>>()
  /** By workflow and version. Versions never change. */
  readonly #versions = new Map<string, Deployment>()
  readonly #loadingVersions = new Map<string, Promise<Deployment | undefined>>()
  #latest: Deployment | undefined
  /** Incremented with every change. */
  #generation = 0

  constructor(options: DeploymentsOptions) {
    this.#options = options
    this.#plansMax = options.plansMax ?? plansMaxDefault
  }

  /** Compiles a document: all findings, and the plan when none of them is an error. */
  check(document: WorkflowDocument, workspaceId: string): Promise<Compilation> {
    const { registry, limits, priceOf, work } = this.#options
    return work.run(workspaceId, compileInSlices(document, registry, limits, priceOf))
  }

  /** The same for a manual run. Errors in blocks that the run cannot reach become warnings. */
  async checkReachable(document: WorkflowDocument, workspaceId: string, reach: Reach): Promise<Compilation> {
    const whole = await this.check(document, workspaceId)
    if (whole.plan) return whole
    const { registry, limits, priceOf, work } = this.#options
    const draft = reachablePart(document, whole.findings, reach, registry)
    if (!draft) return whole
    const compiled = await work.run(workspaceId, compileInSlices(draft.document, draft.registry, limits, priceOf))
    if (!compiled.plan) return whole
    const { reads } = compiled.plan
    const readsStandIn = [...draft.reached].some((id) => !draft.standIns.isDisjointFrom(reads.get(id) ?? new Set()))
    // A block that runs alone reads cached outputs of others, so those must not be stand-ins.
    if ('only' in reach && readsStandIn) return whole
    return { ...compiled, findings: whole.findings.map((finding) => ({ ...finding, level: 'warning' as const })) }
  }

  /** Undefined when it is not in memory; then call `load`. */
  get(workflowId: string): Deployment | undefined {
    if (this.#latest?.workflowId === workflowId) return this.#latest
    const known = this.#known.get(workflowId)
    if (!known) return undefined
    this.#known.delete(workflowId)
    this.#known.set(workflowId, known)
    this.#latest = known
    return known
  }

  /** Undefined when there is no such workflow. Concurrent calls share one read. */
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

  /** Any version of a workflow. Undefined when it does not exist. Concurrent calls share one read. */
  async loadVersion(workflowId: string, version: number): Promise<Deployment | undefined> {
    const active = this.get(workflowId)
    if (active?.version === version) return active
    const key = `${workflowId} ${version}`
    const known = this.#versions.get(key) ?? this.#loadingVersions.get(key)
    if (known) return known
    const loading = this.#loadVersion(key, workflowId, version).finally(() => this.#loadingVersions.delete(key))
    this.#loadingVersions.set(key, loading)
    return loading
  }

  async #loadVersion(key: string, workflowId: string, version: number): Promise<Deployment | undefined> {
    const row = await this.#options.getVersion(workflowId, version)
    if (!row) return undefined
    const loaded = await this.#compile(row)
    this.#versions.set(key, loaded)
    forgetOldest(this.#versions, this.#plansMax)
    return loaded
  }

  /** To be called after a deployment has changed: the next run reads it again. */
  forget(workflowId: string): void {
    this.#generation += 1
    this.#known.delete(workflowId)
    this.#loading.delete(workflowId)
    if (this.#latest?.workflowId === workflowId) this.#latest = undefined
  }

  /** To be called when any deployment may have changed. */
  forgetAll(): void {
    this.#generation += 1
    this.#known.clear()
    this.#loading.clear()
    this.#latest = undefined
  }

  async #load(workflowId: string): Promise<Deployment | undefined> {
    const generation = this.#generation
    const row = await this.#options.getActive(workflowId)
    if (!row) return undefined
    const loaded = await this.#compile(row)
    // If the deployment changed during the read, this result may be outdated and must not be remembered.
    if (generation === this.#generation) this.#remember(loaded)
    return loaded
  }

  async #compile({ workflowId, workspaceId, ownerId, deployment }: ActiveDeployment): Promise<Deployment> {
    const { openSecrets, hideSecrets } = this.#options
    const document = deployment && ((await openSecrets?.(deployment.document, workspaceId)) ?? deployment.document)
    const compilation = document && (await this.check(document, workspaceId))
    hideSecrets?.(workspaceId, compilation?.plan?.writtenSecrets ?? [])
    return {
      workflowId,
      workspaceId,
      ownerId,
      version: deployment?.version ?? null,
      plan: compilation?.plan ?? null,
      findings: compilation?.findings.filter(({ level }) => level === 'error') ?? [],
    }
  }

  #remember(deployment: Deployment): void {
    this.#known.set(deployment.workflowId, deployment)
    const forgotten = forgetOldest(this.#known, this.#plansMax)
    if (this.#latest?.workflowId === forgotten) this.#latest = undefined
  }
}
