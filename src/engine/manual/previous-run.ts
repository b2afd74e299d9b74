import type { Redactor } from '../../domain/redaction/redactor.ts'
import type { Span } from '../../domain/run/log.ts'
import { blockSpans } from '../../domain/run/trace.ts'
import type { PlanNode } from '../compile/plan.ts'
import { portLeftBy } from '../ports.ts'
import type { RecordedBlock } from '../run/contracts.ts'
import { spanNumber } from '../run/spans.ts'
import { damageIn } from './value-damage.ts'

/** The spans of a previous run of a workflow, by block and iteration. */
export class PreviousRun {
  readonly root: Span
  readonly #secrets: Redactor | undefined
  readonly #isWhole: boolean
  readonly #spans = new Map<string, Span>()

  /**
   * `secrets`: those that the log hides. `isWhole`: the spans come from memory, not from the log, so nothing in them
   * was hidden or shortened.
   */
  constructor(root: Span, { secrets, isWhole }: { secrets: Redactor | undefined; isWhole: boolean }) {
    this.root = root
    this.#secrets = secrets
    this.#isWhole = isWhole
    for (const { span, place } of blockSpans(root)) {
      if (place.depth === 0) this.#spans.set(keyOf(span.blockId as string, place.iterations), span)
    }
  }

  /** The span of the trigger that started the run. */
  get trigger(): Span | undefined {
    return this.root.children.find(({ type, status }) => isTrigger(type) && status === 'success')
  }

  span(blockId: string, iterations: readonly number[]): Span | undefined {
    return this.#spans.get(keyOf(blockId, iterations))
  }

  /** The indexes of the iterations in which a block first ran. */
  firstPlaceOf(blockId: string): readonly number[] | undefined {
    const places = blockSpans(this.root).filter(
      ({ span, place }) => span.blockId === blockId && place.depth === 0 && span.status !== 'skipped',
    )
    return places[0]?.place.iterations
  }

  /**
   * The spans of the run's own blocks (not those of sub-workflows) with their iterations, in the order of their starts.
   */
  get spans(): readonly { span: Span; iterations: readonly number[] }[] {
    return blockSpans(this.root)
      .filter(({ place }) => place.depth === 0)
      .map(({ span, place }) => ({ span, iterations: place.iterations }))
      .sort((a, b) => spanNumber(a.span) - spanNumber(b.span))
  }

  /**
   * How a block ended, if the block that now has its id can use its outputs. `isAbsorbed`: the container around the
   * block continues even if the block fails for good.
   */
  recorded(node: PlanNode, iterations: readonly number[], isAbsorbed: boolean): RecordedBlock | undefined {
    const span = this.span(node.id, iterations)
    // A block that has been disabled since then has no outputs; the run passes through it.
    if (!span || span.type !== node.type || !node.enabled) return undefined
    const outputs = (span.output ?? {}) as Record<string, unknown>
    if (span.status === 'success') return { span, port: portLeftBy(node.definition, outputs), error: null }
    if (span.status !== 'error') return undefined
    if (node.hasErrorEdge) return { span, port: 'error', error: null }
    if (node.goesOnAfterError) return { span, port: 'source', error: null }
    if (!isAbsorbed) return undefined
    const error = outputs['error'] as RecordedBlock['error'] | undefined
    return { span, port: null, error: error ?? span.error ?? { code: 'BLOCK_FAILED', message: 'The block failed.' } }
  }

  /** Why the outputs in a span are incomplete; undefined when they are complete. */
  damageOf({ output }: Span): string | undefined {
    return this.damageIn(output)
  }

  /** Why a value of the run is incomplete; undefined when it is complete. */
  damageIn(value: unknown): string | undefined {
    if (this.#isWhole) return undefined
    return damageIn(value, this.#secrets)
  }
}

function isTrigger(type: string): boolean {
  return type === 'schedule' || type.endsWith('_trigger')
}

function keyOf(blockId: string, iterations: readonly number[]): string {
  return `${blockId}/${iterations.join('.')}`
}
