import type { Outputs } from '../block.ts'
import type { PlanNode } from '../compile/plan.ts'
import { portLeftBy } from '../ports.ts'
import type { RecordedBlock } from '../run/contracts.ts'

/**
 * The outputs that are pinned to blocks of a draft, by block id. A manual run uses them instead of running the blocks.
 * Only manual runs of the draft know pins, so they can never affect a deployed version.
 */
export class PinnedOutputs {
  readonly #outputs: ReadonlyMap<string, Outputs>

  constructor(outputs: ReadonlyMap<string, Outputs>) {
    this.#outputs = outputs
  }

  /** The same without the pin of one block; undefined when there is no other. */
  without(blockId: string): PinnedOutputs | undefined {
    const others = new Map([...this.#outputs].filter(([id]) => id !== blockId))
    return others.size > 0 ? new PinnedOutputs(others) : undefined
  }

  /** The same with other outputs for some blocks, and without those of `unpinned`. */
  replaced(outputs: ReadonlyMap<string, Outputs>, unpinned: ReadonlySet<string>): PinnedOutputs {
    const kept = [...this.#outputs].filter(([id]) => !unpinned.has(id))
    return new PinnedOutputs(new Map([...kept, ...outputs]))
  }

  get isEmpty(): boolean {
    return this.#outputs.size === 0
  }

  /** Undefined when the block has no pin, or is disabled: then the run passes through it. */
  recorded(node: PlanNode): RecordedBlock | undefined {
    const pinned = this.#outputs.get(node.id)
    if (!pinned || !node.enabled || !mayBePinned(node.type)) return undefined
    const { id, name, type, definition } = node
    // A pin may be written by hand. Members that it leaves out are null, as after every run of the block.
    const output = definition.kind === 'trigger' ? pinned : { ...node.noOutputs, ...pinned }
    const span = {
      ...{ id: '', name, type, blockId: id, status: 'success' as const, input: null, output },
      ...{ startTime: 0, endTime: 0, durationMs: 0, error: null, attempts: null, children: [] },
    }
    return { span, port: portLeftBy(definition, output), error: null, isPinned: true }
  }
}

/** A response block has no outputs of its own: it ends the run with those of others. */
export function mayBePinned(type: string): boolean {
  return type !== 'response'
}
