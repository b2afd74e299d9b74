import type { Clock, Timer } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { FairShare } from '../domain/fair-share.ts'
import { newId } from '../domain/ids.ts'
import { limitSettings } from '../domain/limits.ts'
import type { EditorEvent, SavedDraft } from '../domain/workflow/editor-event.ts'
import type { EditorPresence, PresenceStore } from '../store/presence-store.ts'
import type { WorkflowRow } from '../store/workflow-store.ts'
import type { Watcher } from './bus.ts'

export type EditorRoomsOptions = {
  store: PresenceStore
  /** The e-mail of an account; null when there is none. */
  emailOf(userId: string): Promise<string | null>
  clock: Clock
  /** The most open editors that are told about one another, of all workflows together. Workspaces share them. */
  editorsMax: number
  shareFactor: number
  /** Called when the store could not be read. The next turn tries again. */
  onFailure(cause: unknown): void
}

export type Visitor = { workflowId: string; workspaceId: string; userId: string; email: string; draft: SavedDraft }

/**
 * The open editors of workflows: who is there, where, and which revision of the draft was saved last. An editor stays
 * in the list for as long as its stream is open. While others are there, it must also answer every `call`, because a
 * lost connection may look open for minutes. An editor that is alone is sent nothing.
 *
 * The list is in the store, so that processes can share it. A process reads it after each change of its own, and every
 * few seconds.
 */
export class EditorRooms {
  readonly #options: EditorRoomsOptions
  readonly #rooms = new Map<string, Room>()
  readonly #places: FairShare

  constructor(options: EditorRoomsOptions) {
    this.#options = options
    this.#places = new FairShare({ total: options.editorsMax, factor: options.shareFactor })
  }

  /** Workflows that are open in an editor. */
  get rooms(): number {
    return this.#rooms.size
  }

  /** Adds an editor. Returns a function that removes it. Throws OVERLOADED when there are too many. */
  join(visitor: Visitor, watcher: Watcher): () => void {
    const { workflowId, workspaceId } = visitor
    if (!this.#places.hasRoom(workspaceId)) {
      const message =
        `The workspace already has its share of the ${this.#options.editorsMax} open editors that can follow each ` +
        `other's changes. Close some, or raise MILLRACE_WATCHERS_MAX or ${limitSettings.shareFactor}.`
      throw new AppError('OVERLOADED', message, { retryAfterS: 30 })
    }
    this.#places.take(workspaceId)
    let room = this.#rooms.get(workflowId)
    if (!room) {
      room = new Room(workflowId, this.#options, () => this.#rooms.delete(workflowId))
      this.#rooms.set(workflowId, room)
    }
    const leave = room.join(visitor, watcher)
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.#places.release(workspaceId)
      leave()
    }
  }

  /** An editor says that it is there, and where. False when this account has no such editor here. */
  place(workflowId: string, editorId: string, userId: string, blockId: string | null): boolean {
    return this.#rooms.get(workflowId)?.place(editorId, userId, blockId) ?? false
  }

  /** Whether an editor has its stream open in this process. */
  has(workflowId: string, editorId: string): boolean {
    return this.#rooms.get(workflowId)?.has(editorId) ?? false
  }

  /** Call after a draft was saved. */
  async saved({ id, revision, updatedAt, updatedBy }: SavedRow): Promise<void> {
    try {
      await this.#options.store.noteDraft({ workflowId: id, revision, savedAt: updatedAt, savedBy: updatedBy })
      this.#rooms.get(id)?.refresh()
    } catch (cause) {
      this.#options.onFailure(cause)
    }
  }

  /** Ends all streams. */
  close(): void {
    for (const room of [...this.#rooms.values()]) room.close()
  }
}

type SavedRow = Pick<WorkflowRow, 'id' | 'revision' | 'updatedAt' | 'updatedBy'>

/** An open editor, and what it has been sent. */
type Member = {
  editor: Omit<EditorPresence, 'expiresAt'>
  watcher: Watcher
  list: string | undefined
  revision: number
  calls: number
}

/**
 * The editors of one workflow in this process. Each of them is sent what it does not know yet: the list, the draft, and
 * the call. A portion of them is told at once, and the others a little later, with what is true by then. Most answer
 * with a request, so telling hundreds at once would delay everybody else.
 */
class Room {
  readonly #workflowId: string
  readonly #options: EditorRoomsOptions
  readonly #emptied: () => void
  /** Those that were told last are at the end. */
  readonly #members = new Map<string, Member>()
  #callTimer: Timer | undefined
  #pause: Timer | undefined
  #reading: Promise<void> | undefined
  #isStale = false
  #isShared = false
  /** Messages, written once for all members. */
  #list: string | undefined
  #saved = { revision: 0, text: '' }
  #calls = 0

  constructor(workflowId: string, options: EditorRoomsOptions, emptied: () => void) {
    this.#workflowId = workflowId
    this.#options = options
    this.#emptied = emptied
    this.#callLater()
  }

  join({ workflowId, userId, email, draft }: Visitor, watcher: Watcher): () => void {
    const editorId = newId()
    const editor = { workflowId, editorId, userId, email, blockId: null }
    const member = { editor, watcher, list: undefined, revision: draft.revision, calls: this.#calls }
    this.#members.set(editorId, member)
    watcher.message(textOf({ event: 'joined', editorId, draft }))
    this.#announce(member)
    return () => {
      if (!this.#members.delete(editorId)) return
      if (this.#members.size === 0) this.#stop()
      this.#then(this.#options.store.withdrawEditor(workflowId, editorId))
    }
  }

  has(editorId: string): boolean {
    return this.#members.has(editorId)
  }

  place(editorId: string, userId: string, blockId: string | null): boolean {
    const member = this.#members.get(editorId)
    if (!member || member.editor.userId !== userId) return false
    member.editor = { ...member.editor, blockId }
    this.#announce(member)
    return true
  }

  /** Reads the list and tells the members what has changed. Calls during a reading lead to one more. */
  refresh(): void {
    this.#isStale = true
    this.#reading ??= this.#readWhileStale().finally(() => {
      this.#reading = undefined
    })
  }

  close(): void {
    for (const { watcher } of [...this.#members.values()]) watcher.end()
    this.#stop()
  }

  async #readWhileStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        await this.#read()
      } catch (cause) {
        this.#options.onFailure(cause)
      }
    }
  }

  async #read(): Promise<void> {
    const { store, clock, emailOf } = this.#options
    const { editors, draft } = await store.readPresence(this.#workflowId, clock.now())
    this.#isShared = editors.length > 1
    const shown = editors.slice(0, shownMax).map(({ editorId, userId, email, blockId }) => {
      return { editorId, userId, email, blockId }
    })
    const list = textOf({ event: 'editors', editors: shown })
    // Comparing a text with itself costs nothing.
    if (list !== this.#list) this.#list = list
    if (draft && draft.revision > this.#saved.revision) {
      const { revision, savedAt, savedBy } = draft
      const email = savedBy === null ? null : await emailOf(savedBy)
      this.#saved = { revision, text: textOf({ event: 'saved', draft: { revision, savedAt, savedBy: email } }) }
    }
    this.#tell()
  }

  /** An editor among others answers the call, which renews it. One that is alone is renewed without being asked. */
  #callLater(): void {
    this.#callTimer = this.#options.clock.setTimer(callEveryMs, () => {
      const isAlone = this.#members.size === 1 && !this.#isShared
      if (isAlone) for (const member of this.#members.values()) this.#announce(member)
      else {
        this.#calls += 1
        this.#tell()
        this.refresh()
      }
      this.#callLater()
    })
  }

  #announce({ editor }: Member): void {
    const { store, clock } = this.#options
    this.#then(store.announceEditor({ ...editor, expiresAt: clock.now() + presentForMs }))
  }

  #then(write: Promise<void>): void {
    write.then(
      () => this.refresh(),
      (cause) => this.#options.onFailure(cause),
    )
  }

  /** Tells a portion of the members what they do not know, and the next portion after a pause. */
  #tell(): void {
    if (this.#pause) return
    const portion = Math.max(portionMin, Math.ceil(this.#members.size / portionsMax))
    const told = [...this.#members.values()].filter((member) => this.#hasNewsFor(member)).slice(0, portion)
    for (const member of told) this.#tellOne(member)
    if (told.length < portion || this.#members.size === 0) return
    this.#pause = this.#options.clock.setTimer(pauseMs, () => {
      this.#pause = undefined
      this.#tell()
    })
  }

  #hasNewsFor({ list, revision, calls }: Member): boolean {
    return list !== this.#list || revision < this.#saved.revision || calls < this.#calls
  }

  #tellOne(member: Member): void {
    const { editor, watcher } = member
    // It may have left while another one was told.
    if (!this.#members.delete(editor.editorId)) return
    this.#members.set(editor.editorId, member)
    const known = { ...member }
    member.list = this.#list
    member.revision = Math.max(known.revision, this.#saved.revision)
    member.calls = this.#calls
    // A reader that is too slow leaves during a message, and ignores the rest.
    if (this.#list !== undefined && known.list !== this.#list) watcher.message(this.#list)
    if (known.revision < this.#saved.revision) watcher.message(this.#saved.text)
    if (known.calls < this.#calls) watcher.message(callText)
  }

  #stop(): void {
    this.#callTimer?.cancel()
    this.#pause?.cancel()
    this.#emptied()
  }
}

function textOf(event: EditorEvent): string {
  return JSON.stringify(event)
}

const callText = textOf({ event: 'call' })

/** An editor that answers no call is gone from the list after this time. */
const presentForMs = 12_000
const callEveryMs = 5_000
/** The most editors in a message. */
const shownMax = 50
/** So many editors are told at once. With more than `portionMin * portionsMax`, the portions grow. */
const portionMin = 20
const portionsMax = 40
const pauseMs = 25
