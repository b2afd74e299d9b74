import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld } from '../execution-world.ts'

/** The whole service, with forms whose runs return their input. */
export class FormWorld {
  readonly executions: ExecutionWorld
  #names = 0

  static async open(flags: Record<string, string> = {}): Promise<FormWorld> {
    const own = { 'outbound-allow': 'loopback', 'body-bytes-max': '2000000', 'body-bytes-max-files': '160 MB' }
    return new FormWorld(await ExecutionWorld.open({ ...own, ...flags }))
  }

  private constructor(executions: ExecutionWorld) {
    this.executions = executions
  }

  close(): Promise<void> {
    return this.executions.close()
  }

  newPath(): string {
    this.#names += 1
    return `form-${this.#names}`
  }

  /** Deploys a workflow whose form returns its input. Returns the path of the form. */
  async form(params: Record<string, unknown> = {}): Promise<string> {
    const path = this.newPath()
    const made = block('start', 'form_trigger', { path, title: 'A form', fields: [], ...params })
    await this.deploy([made, block('end', 'function', { code: 'return <form.input>' })], ['start > end'])
    return path
  }

  deploy(blocks: Parameters<typeof document>[0]['blocks'], edges: string[]): Promise<string> {
    return this.executions.deploy(document({ name: `Form ${this.#names}`, blocks, edges }) as WorkflowDocument)
  }

  /** Sends a form without a key. */
  send(path: string, body: unknown, options: CallOptions = {}) {
    const sent = body instanceof FormData ? { form: body } : { body }
    return this.executions.call(`/api/forms/${path}`, { key: null, ...sent, ...options })
  }

  describe(path: string, options: CallOptions = {}) {
    return this.executions.call(`/api/forms/${path}`, { key: null, ...options })
  }

  /** The result of a run that was started by a form. */
  async resultOf(executionId: string) {
    const { output } = await this.jobUntil(executionId, 'completed')
    return output.result
  }

  async jobUntil(executionId: string, status: string) {
    for (;;) {
      const { json } = await this.executions.call(`/api/jobs/${executionId}`)
      if (json.status === status) return json
      if (json.status === 'failed') throw new Error(JSON.stringify(json))
      await Bun.sleep(10)
    }
  }

  /** The entry of a run in the log. */
  async logOf(executionId: string) {
    const query = `workspaceId=${this.executions.workspaceId}&executionId=${executionId}`
    return (await this.executions.call(`/api/v1/logs?${query}&details=full`)).json.data[0]
  }

  /** The stored files, without those that are arriving. */
  stored(): string[] {
    const root = join(this.executions.folder, 'files')
    if (!existsSync(root)) return []
    const entries = readdirSync(root, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  }
}

/** A multipart form. */
export function formOf(entries: Record<string, string | File | readonly (string | File)[]>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(entries)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each instanceof File) form.append(name, each, each.name)
      else form.append(name, each)
    }
  }
  return form
}

export const textFile = (name: string, content = 'hello') => new File([content], name, { type: 'text/plain' })
