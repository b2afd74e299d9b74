import type { WorkflowEvent } from '../../../http/routes/editor/presence.ts'
import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { readEvents } from '../run/read-events.ts'

/** Somebody who has the workflow open, in one or more tabs. `isMe`: this account in another tab. */
export type Person = { userId: string; email: string; isMe: boolean; blockIds: readonly string[] }

type SavedDraft = Extract<WorkflowEvent, { event: 'saved' }>['draft']

export type TogetherState = {
  /** Everyone else, in order of arrival. */
  people: readonly Person[]
  byBlock: ReadonlyMap<string, readonly Person[]>
  /** The draft that the service has, as far as it is known here. */
  draft: SavedDraft | undefined
}

const alone: TogetherState = { people: [], byBlock: new Map(), draft: undefined }

/** Follows the event stream of a workflow while its editor is open, and says which block is selected here. */
export class Together {
  readonly #workflowId: string
  readonly #userId: string
  readonly #watchers = new Set<() => void>()
  #state = alone
  #editorId: string | undefined
  #blockId: string | null = null
  /** The place that the service knows. */
  #told: string | null = null
  #following: AbortController | undefined

  constructor(workflowId: string, userId: string) {
    this.#workflowId = workflowId
    this.#userId = userId
  }

  readonly state = (): TogetherState => this.#state

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /**
   * Follows until the returned function is called, except while the tab is in the background: browsers open only six
   * connections to a host, and every tab would hold one.
   */
  start(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(timer)
      if (document.hidden) timer = setTimeout(() => this.#stop(), hiddenMs)
      else this.#begin()
    }
    document.addEventListener('visibilitychange', look)
    look()
    return () => {
      document.removeEventListener('visibilitychange', look)
      clearTimeout(timer)
      this.#stop()
    }
  }

  #begin(): void {
    if (this.#following) return
    this.#following = new AbortController()
    void this.#follow(this.#following.signal)
  }

  #stop(): void {
    this.#following?.abort()
    this.#following = undefined
    this.#editorId = undefined
    this.#become({ ...alone, draft: this.#state.draft })
  }

  /** The only selected block. Others are told if there are any. */
  place(blockId: string | null): void {
    this.#blockId = blockId
    if (this.#state.people.length > 0 && blockId !== this.#told) this.#tellPlace()
  }

  /** A lost connection is opened again, ever more slowly. */
  async #follow(signal: AbortSignal): Promise<void> {
    const address = `/api/editor/workflows/${encodeURIComponent(this.#workflowId)}/events`
    for (let waitMs = retryMinMs; !signal.aborted; waitMs = Math.min(waitMs * 2, retryMaxMs)) {
      try {
        for await (const event of readEvents(address, signal)) {
          if (signal.aborted) return
          waitMs = retryMinMs
          this.#receive(event as WorkflowEvent)
        }
      } catch (error) {
        if (signal.aborted) return
        // Signed out, or the workflow is gone or belongs to others: there is nothing to follow.
        if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return
      }
      this.#editorId = undefined
      this.#become({ ...alone, draft: this.#state.draft })
      await pause(waitMs, signal)
    }
  }

  #receive(event: WorkflowEvent): void {
    switch (event.event) {
      case 'joined':
        this.#editorId = event.editorId
        this.#told = null
        this.#become({ ...this.#state, draft: event.draft })
        return
      case 'editors':
        this.#become({ ...this.#state, ...peopleOf(event.editors, this.#editorId, this.#userId) })
        this.place(this.#blockId)
        return
      case 'saved':
        this.#become({ ...this.#state, draft: event.draft })
        return
      case 'call':
        this.#tellPlace()
    }
  }

  #tellPlace(): void {
    const [editorId, blockId] = [this.#editorId, this.#blockId]
    if (editorId === undefined) return
    this.#told = blockId
    const signal = this.#following?.signal
    call('POST /api/editor/workflows/:id/presence', {
      params: { id: this.#workflowId },
      body: { editorId, blockId },
      ...(signal && { signal }),
    }).catch(() => {
      // The stream ends as well if the service cannot be reached.
      this.#told = null
    })
  }

  #become(state: TogetherState): void {
    this.#state = state
    for (const watcher of [...this.#watchers]) watcher()
  }
}

type Editors = Extract<WorkflowEvent, { event: 'editors' }>['editors']

/** Everyone except this editor. Several tabs of an account are one person. */
export function peopleOf(
  editors: Editors,
  editorId: string | undefined,
  me: string,
): Pick<TogetherState, 'people' | 'byBlock'> {
  const others = editors.filter((each) => each.editorId !== editorId)
  const people = [...Map.groupBy(others, ({ userId }) => userId)].map(([userId, tabs]): Person => {
    const blockIds = [...new Set(tabs.flatMap(({ blockId }) => blockId ?? []))]
    return { userId, email: tabs[0]?.email ?? userId, isMe: userId === me, blockIds }
  })
  const byBlock = new Map<string, Person[]>()
  for (const person of people) {
    for (const id of person.blockIds) byBlock.set(id, [...(byBlock.get(id) ?? []), person])
  }
  return { people, byBlock }
}

/** Resolves after a time, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** How long a tab may be in the background before it counts as closed. */
const hiddenMs = 30_000
const retryMinMs = 1_000
const retryMaxMs = 30_000
