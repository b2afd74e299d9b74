import { AppError } from '../../domain/errors.ts'
import type { Redactor } from '../../domain/redaction/redactor.ts'
import { finish, type InSlices, largeBytes, type Slices } from '../../domain/slices.ts'
import { pinBytesMax } from '../../domain/workflow/pin.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { Outputs } from '../block.ts'
import { mayBePinned, PinnedOutputs } from './pinned-outputs.ts'
import { damageIn } from './value-damage.ts'

export type PinsOptions = {
  list(workflowId: string): Promise<{ blockId: string; content: Uint8Array; updatedAt: number }[]>
  set(workflowId: string, pin: { blockId: string; content: Uint8Array; bytes: number; at: number }): Promise<void>
  delete(workflowId: string, blockId: string): Promise<boolean>
  seal(text: string, context: string): Uint8Array
  open(sealed: Uint8Array, context: string): string
  /** The secrets of a workspace. */
  secretsOf(workspaceId: string): Promise<Redactor | undefined>
  /** Opens large pins. */
  inSlices: InSlices
  now(): number
}

/** A pinned output as JSON text without the workspace's secrets. */
export type ShownPin = { blockId: string; output: string; updatedAt: number }

type Draft = { id: string; workspaceId: string; document: WorkflowDocument }

/** The outputs that authors pinned to blocks of drafts. They are sealed in the store, because they may hold secrets. */
export class Pins {
  readonly #options: PinsOptions

  constructor(options: PinsOptions) {
    this.#options = options
  }

  /** The pins of the blocks that the draft has; undefined when there are none. */
  async of(draft: Draft): Promise<PinnedOutputs | undefined> {
    const outputs = await this.#read(draft, function* (text): Slices<Outputs> {
      yield
      return JSON.parse(text)
    })
    if (outputs.length === 0) return undefined
    return new PinnedOutputs(new Map(outputs.map(({ blockId, output }) => [blockId, output])))
  }

  async shown(draft: Draft): Promise<ShownPin[]> {
    const secrets = await this.#options.secretsOf(draft.workspaceId)
    return await this.#read(draft, function* (text): Slices<string> {
      yield
      return secrets ? yield* secrets.redactInSlices(text) : text
    })
  }

  /**
   * Throws NOT_FOUND when the draft has no such block, INVALID_INPUT for an output that was redacted or shortened, and
   * PAYLOAD_TOO_LARGE when it is too large, alone or with the other pins of the workflow.
   */
  async set({ id, workspaceId, document }: Draft, blockId: string, output: Outputs): Promise<{ updatedAt: number }> {
    const block = Object.hasOwn(document.blocks, blockId) ? document.blocks[blockId] : undefined
    if (!block) throw new AppError('NOT_FOUND', `The draft has no block "${blockId}".`)
    if (!mayBePinned(block.type)) {
      throw refused('The output of a response block cannot be pinned: it ends the run with the outputs of others.')
    }
    const damage = damageIn(output, await this.#options.secretsOf(workspaceId))
    if (damage !== undefined) {
      throw refused(`This output of "${block.name}" cannot be pinned: ${damage}. Replace that part first.`)
    }
    const text = JSON.stringify(output)
    const bytes = Buffer.byteLength(text)
    if (bytes > pinBytesMax) {
      const message = `A pinned output may have at most ${pinBytesMax} bytes as JSON. This one has ${bytes}.`
      throw new AppError('PAYLOAD_TOO_LARGE', message)
    }
    const { set, seal, now } = this.#options
    const at = now()
    await set(id, { blockId, content: seal(text, pinContext(workspaceId, blockId)), bytes, at })
    return { updatedAt: at }
  }

  /** False when the block has no pin. */
  delete(workflowId: string, blockId: string): Promise<boolean> {
    return this.#options.delete(workflowId, blockId)
  }

  /** Opens the pins and makes something of the text of each. All pins of a workflow may have ten megabytes. */
  async #read<Output>({ id, workspaceId, document }: Draft, make: (text: string) => Slices<Output>) {
    const { list, open, inSlices } = this.#options
    const rows = (await list(id)).filter(({ blockId }) => Object.hasOwn(document.blocks, blockId))
    function* readAll(): Slices<{ blockId: string; output: Output; updatedAt: number }[]> {
      const all: { blockId: string; output: Output; updatedAt: number }[] = []
      for (const { blockId, content, updatedAt } of rows) {
        all.push({ blockId, output: yield* make(open(content, pinContext(workspaceId, blockId))), updatedAt })
      }
      return all
    }
    const bytes = rows.reduce((sum, { content }) => sum + content.byteLength, 0)
    return bytes > largeBytes ? await inSlices(readAll()) : finish(readAll())
  }
}

/** Ties a sealed output to its place. It stays the same in a copy of the workflow. */
export function pinContext(workspaceId: string, blockId: string): string {
  return `pin/${workspaceId}/${blockId}`
}

function refused(message: string): AppError {
  return new AppError('INVALID_INPUT', message, { details: [{ path: 'output', message }] })
}
