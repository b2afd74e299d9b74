import type { OutboundMemory } from '../../domain/outbound-request.ts'
import type { HeldMemory } from '../block.ts'
import type { Run } from './run.ts'
import { uncountedBytes } from './run-memory.ts'

/** Counts a response for its run while it arrives, or values that a block keeps. Later, the outputs count instead. */
export class RunHeldMemory implements OutboundMemory, HeldMemory {
  readonly #run: Run
  #bytes = 0

  constructor(run: Run) {
    this.#run = run
  }

  add(bytes: number): void {
    const { budget, facts, capabilities } = this.#run
    this.#bytes += bytes
    budget.otherBytes += bytes
    capabilities.memory.hold(facts, budget.bytes + budget.otherBytes)
  }

  hasRoom(): boolean {
    return this.#bytes <= uncountedBytes || this.#run.capabilities.memory.mayGrow(this.#run.facts)
  }

  end(): void {
    this.#run.budget.otherBytes -= this.#bytes
    this.#bytes = 0
  }
}
