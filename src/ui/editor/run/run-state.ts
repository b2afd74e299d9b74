import { afterExecution, afterStart, type BlockRun, outweighs } from './block-run.ts'
import { glimpseOf } from './glimpse.ts'
import type { RunEvent, RunSpan } from './run-event.ts'

export type RunPhase = 'idle' | 'starting' | 'running' | 'success' | 'error' | 'cancelled'

/** One line of the console: a block execution. */
export type RunEntry = {
  spanId: string
  blockId: string
  name: string
  type: string
  iterations: readonly number[]
  depth: number
  /** The span of the surrounding block; null for none. */
  parentId: string | null
  status: BlockRun['status']
  /** Text streamed so far. */
  text: string
  span: RunSpan | undefined
}

export type RunState = {
  readonly phase: RunPhase
  /** The run had already ended when it was opened. */
  readonly isPast: boolean
  readonly executionId: string | undefined
  /** The latest run of more than a single block. Partial runs continue from it. */
  readonly wholeId: string | undefined
  /** Set while a single block is tried alone: the run of more than a single block before it. */
  readonly before: EarlierRun | undefined
  readonly startedAt: number | undefined
  readonly duration: number | undefined
  readonly blocks: ReadonlyMap<string, BlockRun>
  readonly entries: readonly RunEntry[]
  /** Blocks that ended before this client connected and are not known here. The log has them. */
  readonly earlier: number
  readonly output: unknown
  readonly error: { message: string; code: string; blockId: string | null } | undefined
  readonly cost: number
}

/** The part of a run that stays while a single block is tried alone. */
export type EarlierRun = Pick<RunState, 'executionId' | 'entries'>

export const idle: RunState = {
  phase: 'idle',
  isPast: false,
  executionId: undefined,
  wholeId: undefined,
  before: undefined,
  startedAt: undefined,
  duration: undefined,
  blocks: new Map(),
  entries: [],
  earlier: 0,
  output: undefined,
  error: undefined,
  cost: 0,
}

/** The state after an event. */
export function fold(state: RunState, event: RunEvent): RunState {
  switch (event.event) {
    case 'run.started':
      return { ...state, phase: 'running', startedAt: Date.parse(event.startedAt), earlier: event.earlier }
    case 'block.started': {
      const { id, blockId, name, type } = event.span
      const { iterations, depth, parentId } = event
      const entry: RunEntry = {
        ...{ spanId: id, blockId, name, type, iterations, depth, parentId },
        ...{ status: 'running', text: '', span: undefined },
      }
      return { ...state, entries: put(state.entries, entry), blocks: ran(state, event) }
    }
    case 'block.chunk': {
      const entry = state.entries.findLast(({ spanId }) => spanId === event.spanId)
      if (!entry) return state
      return { ...state, entries: put(state.entries, { ...entry, text: entry.text + event.chunk }) }
    }
    case 'block.ended': {
      const { span, iterations, depth, parentId } = event
      const before = state.entries.findLast(({ spanId }) => spanId === span.id)
      const entry: RunEntry = {
        ...{ spanId: span.id, blockId: span.blockId, name: span.name, type: span.type },
        ...{ iterations, depth, parentId, status: span.status, text: before?.text ?? '', span },
      }
      return { ...state, entries: put(state.entries, entry), blocks: ran(state, event) }
    }
    case 'run.ended': {
      const { status, duration, output, error, cost } = event
      return { ...state, phase: status, duration, output, error: error ?? undefined, cost: cost.total }
    }
    case 'run.lost':
      return lost(state, { message: event.message, code: 'LOST' })
    case 'dropped':
      return lost(state, { message: event.message, code: 'DROPPED' })
  }
}

/**
 * The state after the connection to the run was lost. Unfinished blocks are removed, because their state is unknown.
 */
export function lost(state: RunState, { message, code }: { message: string; code: string }): RunState {
  return {
    ...state,
    phase: 'error',
    error: { message, code, blockId: null },
    blocks: new Map([...state.blocks].filter(([, { status }]) => status !== 'running')),
    entries: state.entries.filter(({ status }) => status !== 'running'),
  }
}

/** Maximum number of entries. The oldest successful ones are removed first. */
const entriesMax = 2_000

function put(entries: readonly RunEntry[], entry: RunEntry): readonly RunEntry[] {
  const at = entries.findLastIndex(({ spanId }) => spanId === entry.spanId)
  if (at !== -1) return entries.with(at, entry)
  // Sorts by start. A client that connects late receives ended blocks before running ones.
  const began = spanNumber(entry)
  let place = entries.length
  while (place > 0 && spanNumber(entries[place - 1]!) > began) place -= 1
  const all = entries.toSpliced(place, 0, entry)
  if (all.length <= entriesMax) return all
  const parents = new Set(all.map(({ parentId }) => parentId))
  const wentWell = all.findIndex(({ spanId, status }) => isWell.has(status) && !parents.has(spanId))
  // Keep running entries: they are reported again, and would be counted twice if they were unknown.
  const ended = wentWell === -1 ? all.findIndex(({ status }) => status !== 'running') : wentWell
  return all.toSpliced(Math.max(0, ended), 1)
}

const isWell: ReadonlySet<RunEntry['status']> = new Set(['success', 'skipped'])

/** `s12` is the twelfth span that started in its run. */
export function spanNumber({ spanId }: Pick<RunEntry, 'spanId'>): number {
  return Number(spanId.slice(1))
}

type BlockEvent = Extract<RunEvent, { event: 'block.started' | 'block.ended' }>

/**
 * Updates the block states on the cards. Blocks of sub-workflows have no card. While one block is tried alone, the
 * other cards keep their states.
 */
function ran({ blocks, entries, earlier, before: run }: RunState, event: BlockEvent): RunState['blocks'] {
  if (event.depth > 0) return blocks
  const { id, blockId } = event.span
  const isFirst = !entries.some((entry) => entry.blockId === blockId && entry.depth === 0)
  const alone = run ? ({ isAlone: true } as const) : {}
  const before = run && isFirst ? undefined : blocks.get(blockId)
  const known = entries.find(({ spanId }) => spanId === id)
  if (known?.span) return blocks
  if (event.event === 'block.started')
    return known ? blocks : new Map(blocks).set(blockId, { ...afterStart(before), ...alone })
  const { status, duration, reused, pinned, output } = event.span
  const othersRun = entries.some(
    (other) => other.blockId === blockId && other.depth === 0 && other.spanId !== id && other.status === 'running',
  )
  const glimpse = status === 'success' ? glimpseOf(output) : undefined
  const pass = { status, duration, reused: reused === true, pinned: pinned === true, glimpse }
  const after = { ...afterExecution(before, pass, { wasCounted: known !== undefined, othersRun }), ...alone }
  // A client that missed earlier executions cannot count them.
  return new Map(blocks).set(blockId, earlier > 0 ? { ...after, executions: 1, failures: 0 } : after)
}

/** The state before the first event of a block that is tried alone: the other cards stay as they are. */
export function triedOn({ executionId, entries, blocks, before, wholeId }: RunState): Partial<RunState> {
  return { wholeId, blocks, before: before ?? { executionId, entries } }
}

/** The entries that show the latest state of a block: those of the run before when only another block was tried. */
export function entriesOf({ entries, before }: Pick<RunState, 'entries' | 'before'>, blockId: string) {
  return before && !entries.some((entry) => entry.blockId === blockId) ? before.entries : entries
}

/** The execution that a block's card represents: the failed one, if any, otherwise the latest. */
export function shownEntry(entries: readonly RunEntry[], blockId: string): RunEntry | undefined {
  let shown: RunEntry | undefined
  for (const entry of entries) {
    if (entry.blockId !== blockId || entry.depth > 0 || !entry.span) continue
    if (outweighs(entry.span.status, shown?.span?.status)) shown = entry
  }
  return shown
}
