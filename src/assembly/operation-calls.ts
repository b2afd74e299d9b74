import { registry } from '../blocks/registry.ts'
import type { ChoicesQuestion } from '../connectors/choices.ts'
import type { Environment } from '../domain/account/environment.ts'
import type { Limits } from '../domain/limits.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import { isObject } from '../domain/run/input.ts'
import type { PriceTable } from '../domain/run/model-prices.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'
import { compilePlan } from '../engine/compile/plan.ts'
import { Runner } from '../engine/run/runner.ts'
import type { RunnerOptions } from '../engine/run/runner-options.ts'

export type OperationCallsOptions = {
  capabilities: RunnerOptions['capabilities']
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  limits: Limits
  priceOf: PriceTable
}

/** Calls operations for the editor. Each call is a run of one block, which leaves no log entry. */
export function operationCallsOf({ capabilities, environmentOf, limits, priceOf }: OperationCallsOptions) {
  const runner = new Runner({
    capabilities,
    record: async () => undefined,
    deploymentOf: async () => undefined,
    environmentOf,
  })
  return async ({
    workspaceId,
    signal,
    ...question
  }: ChoicesQuestion): Promise<{ data: unknown } | { error: string }> => {
    const { plan, findings } = compilePlan(documentOf(question), registry, limits, priceOf)
    if (!plan) return { error: findings[0]?.message ?? 'The operation cannot be called.' }
    const { record } = await runner.execute({
      ...{ plan, workflowId: 'none', workspaceId, version: 0, trigger: 'manual' },
      ...{ input: { input: {}, fields: {} }, timeoutMs: callMs, callerSignal: () => signal },
    })
    const output = isObject(record.output) ? record.output : {}
    const error = record.failure ?? (isObject(output['error']) ? output['error'] : undefined)
    if (!error) return { data: output['data'] }
    const { redactor } = await environmentOf(workspaceId)
    return { error: redactText(String(error.message), redactor) }
  }
}

function documentOf(question: Omit<ChoicesQuestion, 'workspaceId' | 'signal'>): WorkflowDocument {
  const { connector, operation, credential, params } = question
  const call = { connector, operation, params, retries: 0, timeoutMs: callMs, pagination: { maxPages: 5 } }
  return {
    name: 'Choices',
    blocks: {
      start: { id: 'start', name: 'Start', type: 'manual_trigger', params: {} },
      call: {
        ...{ id: 'call', name: 'Call', type: 'operation' },
        params: { ...call, onError: 'continue', ...(credential === '' ? {} : { credential }) },
      },
    },
    edges: [{ id: 'e', source: 'start', target: 'call' }],
  }
}

const callMs = 15_000
