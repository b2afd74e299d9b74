import { setMember } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import { mayHoldSegments, normaliseName, type PathStep, segmentsOf } from '../../domain/workflow/reference.ts'

/** A block that references can name. `output`: as in `MappedBlock`. */
export type ReferencedBlock = {
  name: string
  output?: ((path: readonly PathStep[]) => readonly PathStep[] | undefined) | undefined
  /** Whether, in old files, all outputs were members of `response`. */
  hadResponse: boolean
}

/**
 * Translates the references in the texts of one workflow: new names of blocks, new paths of outputs, and run variables,
 * whose names Sim compares without case and spaces.
 */
export class Translator {
  readonly #blocks: ReadonlyMap<string, ReferencedBlock>
  readonly #variables: ReadonlyMap<string, string>
  /** The references that could not be translated, with the reason. */
  readonly problems = new Map<string, string>()
  #steps = 0

  /** Both by normalised name. */
  constructor(blocks: ReadonlyMap<string, ReferencedBlock>, variables: ReadonlyMap<string, string>) {
    this.#blocks = blocks
    this.#variables = variables
  }

  /** A value with all its texts translated. Member names stay as they are. */
  *value(value: unknown): Slices<unknown> {
    if (typeof value === 'string') return yield* this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    yield* this.#step()
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) items.push(yield* this.value(item))
      return items
    }
    const members: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) setMember(members, name, yield* this.value(member))
    return members
  }

  *#text(text: string): Slices<string> {
    if (!mayHoldSegments(text)) return text
    let translated = ''
    for (const segment of segmentsOf(text)) {
      if (segment.kind === 'text') translated += segment.text
      else if (segment.kind === 'environment') translated += segment.source
      else translated += this.#reference(segment.source, segment.name, segment.path)
      yield* this.#step()
    }
    return translated
  }

  /** Ends the slice now and then, so that other work can run. */
  *#step(): Slices<void> {
    this.#steps += 1
    if (this.#steps % stepsInSlice === 0) yield
  }

  #reference(source: string, name: string, path: readonly PathStep[]): string {
    if (name === 'variable') return this.#variable(source, path)
    const block = this.#blocks.get(name)
    if (!block) {
      const isName = /^[\p{L}\p{N}_-]+$/u.test(name)
      if (isName && !known.has(name)) this.#problem(source, 'the workflow has no block of this name')
      return source
    }
    const current = block.hadResponse && path[0] === 'response' && path.length > 1 ? path.slice(1) : path
    const moved = block.output ? block.output(current) : current
    if (moved === undefined || moved.length === 0) {
      this.#problem(source, `"${block.name}" has no such output here`)
      return written(block.name, path)
    }
    return isSame(moved, path) && normaliseName(block.name) === name ? source : written(block.name, moved)
  }

  #problem(source: string, reason: string): void {
    if (this.problems.size < problemsMax) this.problems.set(source, reason)
  }

  #variable(source: string, [first, ...rest]: readonly PathStep[]): string {
    const name = this.#variables.get(normaliseName(String(first)))
    if (name === undefined) {
      this.#problem(source, 'the workflow has no variable of this name')
      return source
    }
    return name === first ? source : `<variable${written('', [name, ...rest]).slice(1)}`
  }
}

/** References and values that take about a millisecond. */
const stepsInSlice = 500
/** Nobody reads more problems of one block than this. */
const problemsMax = 50

/** Names in references that are not the names of blocks. */
const known = new Set(['loop', 'parallel', 'batch', 'args', 'api', 'chat', 'webhook', 'schedule', 'manual'])

function isSame(a: readonly PathStep[], b: readonly PathStep[]): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index])
}

/** A reference as an author writes it. */
export function written(name: string, path: readonly PathStep[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`
    return plainKey.test(step) ? `.${step}` : `["${step.replaceAll(/["\\]/g, String.raw`\$&`)}"]`
  })
  return `<${normaliseName(name)}${steps.join('')}>`
}

const plainKey = /^[^\s.[\]<>"'`(){},;=&|!?:+*/\\%^~]+$/
