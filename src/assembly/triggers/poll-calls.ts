import { pollRegistry } from '../../blocks/poll/poll-call.ts'
import { pollItemsMax } from '../../blocks/poll/poll-parameters.ts'
import type { Environment } from '../../domain/account/environment.ts'
import { forgetOldest } from '../../domain/forget-oldest.ts'
import type { Limits } from '../../domain/limits.ts'
import { type FirstPoll, firstPolls, type PollAnswer, type Validators } from '../../domain/poll/answer.ts'
import type { PollRow } from '../../domain/poll/poll.ts'
import { redactText } from '../../domain/redaction/redactor.ts'
import { isObject } from '../../domain/run/input.ts'
import type { PriceTable } from '../../domain/run/model-prices.ts'
import { compilePlan, type Plan } from '../../engine/compile/plan.ts'
import type { Deployment } from '../../engine/deployments.ts'
import { Runner } from '../../engine/run/runner.ts'
import type { RunnerOptions } from '../../engine/run/runner-options.ts'
import type { PollSource } from '../../triggers/polls/poller-options.ts'

export type PollCallsOptions = {
  capabilities: RunnerOptions['capabilities']
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  deploymentOf(workflowId: string, version: number): Promise<Deployment | undefined>
  limits: Limits
  priceOf: PriceTable
}

/** The trigger of a poll. `params`: as in the document, without secrets that are sealed. */
export type PollTriggerBlock = { id: string; name: string; type: string; params: Readonly<Record<string, unknown>> }

/** Sends the requests of polls. Each is a run of one block, which leaves no log entry. */
export class PollCalls {
  readonly #options: PollCallsOptions
  readonly #runner: Runner
  /** By number of the poll: compiling takes longer than sending the request. */
  readonly #sources = new Map<number, { version: number; source: PollSource }>()

  constructor(options: PollCallsOptions) {
    this.#options = options
    const { capabilities, environmentOf } = options
    this.#runner = new Runner({
      capabilities,
      record: async () => undefined,
      deploymentOf: async () => undefined,
      environmentOf,
    })
  }

  /** Undefined when the version does not exist any more. */
  async sourceOf({ number, version, workflowId, workspaceId, blockId }: PollRow): Promise<PollSource | undefined> {
    const known = this.#sources.get(number)
    if (known?.version === version) {
      this.#sources.delete(number)
      this.#sources.set(number, known)
      return known.source
    }
    const deployment = await this.#options.deploymentOf(workflowId, version)
    const block = deployment?.plan?.document.blocks[blockId]
    if (!deployment) return undefined
    const source = block
      ? this.#sourceOfBlock({ ...block, params: block.params ?? {} }, workspaceId)
      : failing(deployment.findings[0]?.message ?? 'The version has no such trigger.')
    this.#sources.set(number, { version, source })
    forgetOldest(this.#sources, sourcesMax)
    return source
  }

  /** One poll of a trigger in a draft. */
  async tryOut(block: PollTriggerBlock, workspaceId: string, signal: AbortSignal): Promise<PollAnswer> {
    return await this.#sourceOfBlock(block, workspaceId).send({}, signal)
  }

  #sourceOfBlock(block: PollTriggerBlock, workspaceId: string): PollSource {
    const { limits, priceOf } = this.#options
    const params = callParameters(block)
    const { plan, findings } = compilePlan(workflowOf(block, params), pollRegistry, limits, priceOf)
    if (!plan) return failing(findings.find(({ level }) => level === 'error')?.message ?? 'The poll cannot be sent.')
    const first = firstPolls.find((each) => each === block.params['first']) ?? 'skip'
    return {
      first,
      origin: originOf(params['url'], workspaceId),
      send: (validators, signal) => this.#send(plan, workspaceId, validators, signal),
    }
  }

  async #send(plan: Plan, workspaceId: string, validators: Validators, signal: AbortSignal): Promise<PollAnswer> {
    const { record } = await this.#runner.execute({
      ...{ plan, workflowId: 'none', workspaceId, version: 0, trigger: 'manual' },
      ...{ input: { input: {}, fields: { validators } }, timeoutMs: callMs, callerSignal: () => signal },
    })
    const output = isObject(record.output) ? record.output : {}
    const answer = output['answer'] as PollAnswer | null | undefined
    if (answer && answer.kind !== 'failed') return answer
    const message = answer?.message ?? record.failure?.message ?? 'The poll was cancelled.'
    const { redactor } = await this.#options.environmentOf(workspaceId)
    return { ...answer, kind: 'failed', message: redactText(message, redactor) }
  }
}

function callParameters({ type, params }: PollTriggerBlock): Record<string, unknown> {
  if (type === 'rss_trigger') {
    const { url, credential } = params
    return { url, ...(credential === undefined ? {} : { credential }), reads: 'feed', maxItems: pollItemsMax }
  }
  const { request, items, id, maxItems } = params
  const paths = { ...(items === undefined ? {} : { items }), ...(id === undefined ? {} : { id }) }
  return { ...(isObject(request) ? request : {}), ...paths, reads: 'list', maxItems: maxItems ?? pollItemsMax }
}

function workflowOf({ id, name }: PollTriggerBlock, params: Record<string, unknown>) {
  const start = id === 'start' ? 'begin' : 'start'
  return {
    name: 'Poll',
    blocks: {
      [start]: { id: start, name: name === 'Start' ? 'Begin' : 'Start', type: 'manual_trigger', params: {} },
      [id]: { id, name, type: 'poll_call', params },
    },
    edges: [{ id: 'e', source: start, target: id }],
  }
}

/** An address with variables is known only when it is called: its text counts, for each workspace. */
function originOf(url: unknown, workspaceId: string): string {
  const text = typeof url === 'string' ? url.trim() : ''
  const start = /^[^/?#]*\/\/[^/?#]*/.exec(text)?.[0] ?? text
  return start.includes('{{') ? `${workspaceId} ${start}` : (URL.parse(start)?.origin ?? start)
}

function failing(message: string): PollSource {
  const first: FirstPoll = 'skip'
  return { first, origin: '', send: async () => ({ kind: 'failed', message }) }
}

/** With its retries. */
const callMs = 300_000
/** Each takes some kilobytes. */
const sourcesMax = 20_000
