import type { Change } from '../../../domain/edits/change.ts'
import type { AssistantEvent } from '../../../http/openapi/assistant-operation.ts'
import { addressOf } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { autoLayout } from '../document/auto-layout.ts'
import type { Document } from '../document/document.ts'
import { applyEdit, type Edit } from '../document/edit.ts'
import { readEvents } from '../run/read-events.ts'
import type { Draft } from '../save/draft.ts'

/** A piece of a reply, in the order of its arrival: text or a tool call. */
export type Part = { kind: 'text'; text: string } | ({ kind: 'tool' } & Omit<ToolEvent, 'event'>)
type ToolEvent = Extract<AssistantEvent, { event: 'tool' }>

/** Changes of the draft. `applied` is the draft right after they were applied. */
export type Proposal = {
  readonly changes: readonly Change[]
  readonly errors: number
  readonly outcome: 'open' | 'applied' | 'discarded'
  readonly applied?: Document
}

/** A question and its reply. */
export type Turn = {
  readonly question: Question
  readonly parts: readonly Part[]
  readonly phase: 'working' | 'done' | 'stopped'
  /** Why the reply ended early. */
  readonly failure?: string
  readonly cost?: { tokens: number; usd: number | null }
  readonly proposal?: Proposal
}

/** The assistant gets `text`; people see `shown`. */
export type Question = { text: string; shown?: string }

/**
 * The conversation with the assistant about one draft. Only the browser keeps it, and sends it with each question. A
 * proposal for an empty draft is applied at once, because there is nothing to compare it with. Undo reverts it.
 */
export class Conversation {
  readonly #workflowId: string
  readonly #draft: Draft
  #turns: readonly Turn[] = []
  #reading: AbortController | undefined
  #isReported = false
  readonly #watchers = new Set<() => void>()

  constructor(workflowId: string, draft: Draft) {
    this.#workflowId = workflowId
    this.#draft = draft
  }

  readonly turns = (): readonly Turn[] => this.#turns

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  get isWorking(): boolean {
    return this.#reading !== undefined
  }

  /** Asks the assistant, unless it is working. */
  async ask(question: Question): Promise<void> {
    if (this.isWorking) return
    const reading = new AbortController()
    this.#reading = reading
    const { document } = this.#draft.state()
    const messages = [...messagesOf(this.#turns), { role: 'user', content: question.text.slice(0, textCharsMax) }]
    this.#turns = [...this.#turns, { question, parts: [], phase: 'working' }]
    this.#tell()
    try {
      const address = addressOf('/api/workflows/:id/assistant', { id: this.#workflowId })
      const body = JSON.stringify({ messages, document })
      const request = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      for await (const event of readEvents(address, reading.signal, request)) {
        this.#change((turn) => withEvent(turn, event as AssistantEvent))
      }
      this.#change((turn) => ({ ...turn, phase: 'done' }))
    } catch (error) {
      const failure = reading.signal.aborted ? undefined : messageOf(error)
      this.#change((turn) => ({ ...turn, phase: 'stopped', ...(failure !== undefined && { failure }) }))
    }
    this.#reading = undefined
    this.#tell()
    const { blocks } = this.#draft.state().document
    if (Object.keys(document.blocks).length + Object.keys(blocks).length === 0) this.apply(this.#turns.length - 1)
  }

  /** Stops the reply. */
  stop(): void {
    this.#reading?.abort()
  }

  clear(): void {
    this.stop()
    this.#turns = []
    this.#tell()
  }

  /** Applies the proposal of a turn as one step of the history. */
  apply(at: number): void {
    const proposal = this.#turns[at]?.proposal
    if (proposal?.outcome !== 'open') return
    const { document } = this.#draft.state()
    const edits: Edit[] = [{ kind: 'change', changes: proposal.changes }]
    const isNew = Object.keys(document.blocks).length === 0
    if (isNew) edits.push({ kind: 'move', to: autoLayout(edits.reduce(applyEdit, document)) })
    this.#draft.perform(edits)
    this.#settle(at, { ...proposal, outcome: 'applied', applied: this.#draft.state().document })
  }

  discard(at: number): void {
    const proposal = this.#turns[at]?.proposal
    if (proposal?.outcome === 'open') this.#settle(at, { ...proposal, outcome: 'discarded' })
  }

  #settle(at: number, proposal: Proposal): void {
    this.#turns = this.#turns.with(at, { ...this.#turns[at]!, proposal })
    this.#tell()
  }

  #change(change: (turn: Turn) => Turn): void {
    const last = this.#turns.at(-1)
    if (!last) return
    this.#turns = this.#turns.with(-1, change(last))
    this.#tell()
  }

  /** Notifies watchers at most once per frame: text arrives in many pieces. */
  #tell(): void {
    if (this.#isReported) return
    this.#isReported = true
    requestAnimationFrame(() => {
      this.#isReported = false
      for (const watcher of [...this.#watchers]) watcher()
    })
  }
}

function withEvent(turn: Turn, event: AssistantEvent): Turn {
  switch (event.event) {
    case 'text':
      return { ...turn, parts: withText(turn.parts, event.text) }
    case 'tool':
      return { ...turn, parts: withTool(turn.parts, event) }
    case 'cost':
      return { ...turn, cost: { tokens: event.tokens.total, usd: event.usd } }
    case 'proposal': {
      const errors = event.findings.filter(({ level }) => level === 'error').length
      // JSON has no undefined: an absent value is one that the change removes.
      const changes = event.changes.map(({ path, before, after }) => ({ path, before, after }))
      return { ...turn, proposal: { changes, errors, outcome: 'open' } }
    }
    case 'failed':
      return { ...turn, failure: event.message }
  }
}

function withText(parts: readonly Part[], text: string): readonly Part[] {
  const last = parts.at(-1)
  if (last?.kind !== 'text') return [...parts, { kind: 'text', text }]
  return parts.with(-1, { kind: 'text', text: last.text + text })
}

function withTool(parts: readonly Part[], { event: _, ...tool }: ToolEvent): readonly Part[] {
  const last = parts.at(-1)
  const isSame = last?.kind === 'tool' && last.status === 'started' && last.name === tool.name
  return isSame ? parts.with(-1, { kind: 'tool', ...tool }) : [...parts, { kind: 'tool', ...tool }]
}

const textCharsMax = 20_000
const conversationCharsMax = 70_000
const turnsMax = 15

/** The latest turns in the format of the service. */
export function messagesOf(turns: readonly Turn[]): { role: 'user' | 'assistant'; content: string }[] {
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  let chars = 0
  for (const { question, parts, proposal } of turns.slice(-turnsMax).toReversed()) {
    const said = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
    const outcome = proposal ? [outcomes[proposal.outcome]] : []
    const reply = [said.slice(0, textCharsMax - 200), ...outcome].join('\n').trim() || '(no reply)'
    const asked = question.text.slice(0, textCharsMax)
    chars += asked.length + reply.length
    if (chars > conversationCharsMax) break
    messages.unshift({ role: 'user', content: asked }, { role: 'assistant', content: reply })
  }
  return messages
}

const outcomes = {
  open: '(The proposed edits were not applied yet.)',
  applied: '(The proposed edits were applied.)',
  discarded: '(The proposed edits were discarded.)',
} as const
