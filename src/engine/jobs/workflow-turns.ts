/**
 * The workflows of a workspace that wait for their turns, the highest priority first. Among equal ones, the workflow
 * that was added last comes last. There are few priorities, so finding the next workflow takes few steps.
 */
export class WorkflowTurns {
  /** The workflows of each priority, the highest first. */
  readonly #levels = new Map<number, Set<string>>()
  readonly #priorities = new Map<string, number>()

  get size(): number {
    return this.#priorities.size
  }

  add(workflowId: string, priority: number): void {
    this.delete(workflowId)
    this.#priorities.set(workflowId, priority)
    const level = this.#levels.get(priority)
    if (level) {
      level.add(workflowId)
      return
    }
    const levels = [...this.#levels, [priority, new Set([workflowId])] as const].sort(([a], [b]) => b - a)
    this.#levels.clear()
    for (const [each, workflows] of levels) this.#levels.set(each, workflows)
  }

  delete(workflowId: string): void {
    const priority = this.#priorities.get(workflowId)
    if (priority === undefined) return
    this.#priorities.delete(workflowId)
    const level = this.#levels.get(priority)
    level?.delete(workflowId)
    if (level?.size === 0) this.#levels.delete(priority)
  }

  *[Symbol.iterator](): Generator<string, void> {
    for (const workflows of this.#levels.values()) yield* workflows
  }
}
