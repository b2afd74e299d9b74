import { sameValue } from '../../domain/edits/same-value.ts'
import type { Document } from './document/document.ts'
import type { Finding } from './findings.tsx'
import type { Draft } from './save/draft.ts'

/**
 * Holds back problems that nobody could have avoided yet: those of a block that was just added, and those of the field
 * that is being changed. They are shown once the field or the block was left, or a run or a deployment was tried.
 */
export class HeldProblems {
  readonly #watchers = new Set<() => void>()
  /** The fields that were left, by the id of each block whose problems are held back. */
  readonly #left = new Map<string, Set<string>>()
  /** The field that is being changed: `<block id> <parameter>`. */
  #changing: string | undefined
  #isNewWorkflow: boolean
  /** Counts changes. */
  #version = 0

  constructor(draft: Draft) {
    const { blocks } = draft.state().document
    this.#isNewWorkflow = Object.keys(blocks).length === 0
    let selected = draft.state().selected
    draft.watch(() => {
      const before = selected
      selected = draft.state().selected
      for (const id of before) if (!selected.has(id)) this.#release(id)
    })
  }

  readonly version = (): number => this.#version

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** A block was added: its problems wait. */
  hold(blockId: string): void {
    this.#left.set(blockId, new Set())
    this.#tell()
  }

  /** A field is being changed: its problems wait until it is left. */
  change(blockId: string, field: string): void {
    this.#become(`${blockId} ${field}`)
  }

  /** A field was left. */
  leave(blockId: string, field: string): void {
    const left = this.#left.get(blockId)
    if (left && !left.has(field)) {
      left.add(field)
      this.#tell()
    }
    if (this.#changing === `${blockId} ${field}`) this.#become(undefined)
  }

  /** A run or a deployment was tried. */
  showAll(): void {
    this.#left.clear()
    this.#changing = undefined
    this.#isNewWorkflow = false
    this.#tell()
  }

  /** The problems to show. Everything that lists what prevents a deployment shows all of them. */
  shown(findings: readonly Finding[]): readonly Finding[] {
    if (this.#left.size === 0 && this.#changing === undefined && !this.#isNewWorkflow) return findings
    return findings.filter(({ blockId, path }) => {
      if (blockId === null) return !this.#isNewWorkflow
      const field = fieldOf(path)
      const left = this.#left.get(blockId)
      if (left && (field === undefined || !left.has(field))) return false
      return this.#changing !== `${blockId} ${field}`
    })
  }

  #release(blockId: string): void {
    const isChanging = this.#changing?.startsWith(`${blockId} `) === true
    if (isChanging) this.#changing = undefined
    if (this.#left.delete(blockId) || isChanging) this.#tell()
  }

  #become(changing: string | undefined): void {
    if (changing === this.#changing) return
    this.#changing = changing
    this.#tell()
  }

  #tell(): void {
    this.#version += 1
    for (const watcher of [...this.#watchers]) watcher()
  }
}

/** Whether the field of a problem has changed since the document was checked. The next check decides about it. */
export function isOutdated({ blockId, path }: Finding, checked: Document, document: Document): boolean {
  const field = fieldOf(path)
  if (blockId === null || field === undefined) return false
  const [member] = path.split('.')
  const [before, now] = [checked, document].map(({ blocks, loops, parallels }) => {
    const entry = member === 'blocks' ? blocks[blockId]?.params : { ...loops?.[blockId], ...parallels?.[blockId] }
    return (entry as Record<string, unknown> | undefined)?.[field]
  })
  return !sameValue(before, now)
}

/** The parameter that a problem is about: `blocks.<id>.params.<name>…` or `loops.<id>.<name>…`. */
function fieldOf(path: string): string | undefined {
  const [member, , ...rest] = path.replaceAll(/\[(\w+)\]/g, '.$1').split('.')
  if (member === 'blocks') return rest[0] === 'params' ? rest[1] : undefined
  return rest[0]
}
