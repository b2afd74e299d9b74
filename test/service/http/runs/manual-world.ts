import { expect } from 'bun:test'
import type { LiveEvent } from '../../../../src/domain/run/live-event.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

/** The whole service with the variable TOKEN, and its owner signed in to start manual runs. */
export class ManualWorld {
  readonly executions: ExecutionWorld
  readonly session: Record<string, string>

  static async open(flags: Record<string, string> = {}): Promise<ManualWorld> {
    const bounds = { 'outbound-allow': 'loopback', 'body-bytes-max-files': '40000' }
    const executions = await ExecutionWorld.open({ ...bounds, ...flags })
    const variable = { method: 'PUT', body: { value: 'the secret value' } }
    await executions.call(`/api/workspaces/${executions.workspaceId}/environment/TOKEN`, variable)
    return new ManualWorld(executions, await executions.signIn())
  }

  private constructor(executions: ExecutionWorld, session: Record<string, string>) {
    this.executions = executions
    this.session = session
  }

  close(): Promise<void> {
    return this.executions.close()
  }

  post(workflowId: string, body: unknown = {}) {
    return this.executions.call(`/api/editor/workflows/${workflowId}/runs`, { body, headers: this.session, key: null })
  }

  /** The events of a run, until it ends. `begun` is called when the response has begun. */
  async watch(executionId: string, begun?: () => void): Promise<LiveEvent[]> {
    const address = `${this.executions.url}/api/editor/runs/${executionId}/events`
    const response = await fetch(address, { headers: this.session })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    begun?.()
    const messages = (await response.text()).split('\n\n').flatMap((text) => {
      return text.startsWith('data: ') ? [text.slice(6)] : []
    })
    expect(messages.pop()).toBe('[DONE]')
    return messages.map((message) => JSON.parse(message) as LiveEvent)
  }

  /** Runs a draft until it ends. */
  async run(workflow: WorkflowDocument, body: unknown = {}) {
    const workflowId = await this.executions.deploy(workflow, false)
    return { workflowId, ...(await this.again(workflowId, body)) }
  }

  async again(workflowId: string, body: unknown) {
    const { status, json } = await this.post(workflowId, body)
    expect([status, json.error]).toEqual([202, undefined])
    const events = await this.watch(json.executionId)
    const ended = events.at(-1)
    if (ended?.event !== 'run.ended') throw new Error(JSON.stringify(events))
    return { executionId: json.executionId as string, events, ended }
  }

  async entryOf(executionId: string) {
    const { workspaceId } = this.executions
    const path = `/api/v1/logs?workspaceId=${workspaceId}&executionId=${executionId}&details=full`
    return (await this.executions.call(path)).json.data[0]
  }
}

export const apiTrigger = block('start', 'api_trigger', {
  inputFormat: [
    { name: 'city', type: 'string', value: 'Porto' },
    { name: 'days', type: 'number', required: true, value: 3 },
  ],
})

/** A chain of blocks: one has a different output each time, and one outputs a secret. */
export const line = () =>
  document({
    variables: { said: { value: '' }, stamp: { value: '' } },
    blocks: [
      apiTrigger,
      block('say', 'variables', { assign: [{ name: 'said', value: '<api.city> for <api.days> days, {{TOKEN}}' }] }),
      block('time', 'function', { code: 'return Math.random()' }),
      block('end', 'variables', { assign: [{ name: 'stamp', value: '<say.said>/<time.result>' }] }),
    ],
    edges: ['start > say', 'say > time', 'time > end'],
  })

/** The spans of the blocks that ended. */
export const endedOf = (events: readonly LiveEvent[]) =>
  events.flatMap((each) => (each.event === 'block.ended' ? [each.span] : []))
