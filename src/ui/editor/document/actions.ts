import { useReactFlow, useStoreApi } from '@xyflow/react'
import { useEffect, useMemo, useRef } from 'react'
import { copyText } from '../../parts/clipboard.ts'
import { useToast } from '../../parts/toast.tsx'
import { type CanvasNode, measuredSizes } from '../canvas/canvas-nodes.ts'
import { freeSpot, noteLeast, noteSize, placesOf, sizeOfNote, sizesOf } from '../canvas/geometry.ts'
import { nodeElement } from '../canvas/view/show-node.ts'
import type { BlockType } from '../editing.tsx'
import { useEditing } from '../editing.tsx'
import { autoLayout, tidyBlocks } from './auto-layout.ts'
import { clipboardActions } from './clipboard-actions.ts'
import { isTrigger, type Note, type Point } from './document.ts'
import { freshId } from './fresh-id.ts'
import { wrapEdits } from './group-edits.ts'
import { loneStart, type NewBlock, newBlock, nextPort, openPort, type Place } from './new-block.ts'
import { withRoom } from './push-neighbours.ts'
import { separate } from './separate-workflow.ts'
import { viewActions } from './view-actions.ts'

export type Actions = ReturnType<typeof useActions>

/** Everything that keys, menus, toolbars and commands do with the document and the selection. */
export function useActions() {
  const { draft, types, held, portions, readOnly } = useEditing()
  const flow = useReactFlow<CanvasNode>()
  const store = useStoreApi()
  const toast = useToast()
  const pointer = useCanvasPointer()
  /** The blocks copied last. A menu pastes them where the browser does not let a page read the clipboard. */
  const copied = useRef<string>(undefined)
  return useMemo(() => {
    const now = () => draft.state()
    const measured = () => measuredSizes(flow.getNodes())
    const sizes = () => sizesOf(now().document, measured())
    const view = viewActions(draft, flow, store, portions)
    const { focusNode, reveal, middle } = view
    const clipboard = clipboardActions({
      ...{ draft, readOnly, sizes },
      onInserted: ([first]) => first && reveal(first),
      onNothing: () => toast.show({ text: 'A workflow can have only one trigger of each type.', tone: 'error' }),
      onLeft: (reasons) => toast.show({ text: `Not everything was taken. ${reasons.join(' ')}` }),
    })
    const chosen = () => [...now().selected]
    const chosenBlocks = () => chosen().filter((id) => now().document.blocks[id])
    const pastePoint = (at?: Point) => {
      const from = at ?? pointer.current
      return from ? flow.screenToFlowPosition(from) : middle()
    }
    return {
      ...view,
      copyText: clipboard.copyText,
      duplicate: clipboard.duplicate,
      add(type: NewBlock, place: Place): void {
        if (readOnly) return
        const { document } = now()
        const isFree = !place.from && !place.onEdge && !place.parentId && !isTrigger(type)
        const from = isFree ? nextPort(document, undefined) : undefined
        const { edits, id } = newBlock(type, from ? { ...place, from } : place, document, sizes())
        draft.perform(withRoom(document, edits, sizes()))
        if (!now().document.blocks[id]) return
        held.hold(id)
        draft.select([id])
        focusNode(id)
        reveal(id)
      },
      /** Adds the first trigger. On a narrow page, its settings would cover the next question. */
      start(type: Pick<BlockType, 'type' | 'label'>): void {
        this.add(type, { point: view.beginning() })
        if (isNarrow()) draft.select([])
      },
      /** Adds the block after the first trigger. */
      continueStart(type: Pick<BlockType, 'type' | 'label'>): void {
        const { document } = now()
        const trigger = Object.values(document.blocks).find(isTrigger)
        const from = trigger && openPort(document, trigger)
        this.add(type, from ? { from } : {})
      },
      /** Where a block goes that is added without a position, and what it continues from. */
      nextPlace(isTriggerType: boolean): Place {
        const { document } = now()
        const [only, ...others] = chosenBlocks()
        const block = only === undefined || others.length > 0 ? undefined : document.blocks[only]
        const from = isTriggerType ? undefined : nextPort(document, block)
        if (from) return { from }
        const first = isTriggerType ? loneStart(document) : undefined
        const at = first && placesOf(document, measured()).get(first.id)
        return { point: at ? { x: at.x - 310, y: at.y } : middle() }
      },
      addByType(type: string, place: Place): void {
        const found = types.get(type)
        if (found) this.add(found, place)
      },
      /** Adds a note in free space, near a point of the page or the middle of the view. */
      addNote(at?: Point): void {
        if (readOnly) return
        const id = freshId()
        const wanted = at ? flow.screenToFlowPosition(at) : middle()
        const position = freeSpot([...placesOf(now().document, measured()).values()], wanted, noteSize)
        draft.perform({ kind: 'note', note: { id, text: '', position, ...noteSize } })
        draft.select([id])
        reveal(id)
      },
      setNote(id: string, change: Partial<Note>): void {
        const note = now().document.notes?.[id]
        if (!readOnly && note) draft.perform({ kind: 'note', note: { ...note, ...change } }, `note ${id}`)
      },
      /** Changes the size of a note by a step. */
      resizeNote(id: string, { x, y }: Point): void {
        const note = now().document.notes?.[id]
        if (!note) return
        const { width, height } = sizeOfNote(note)
        const clamp = (size: number, least: number) => Math.min(Math.max(size, least), 10_000)
        const size = { width: clamp(width + x, noteLeast.width), height: clamp(height + y, noteLeast.height) }
        this.setNote(id, size)
      },
      /** Opens the text of a note for writing. */
      editNote(id: string): void {
        nodeElement(id)?.querySelector<HTMLElement>('[data-edit-note]')?.click()
      },
      /** The selected note, when nothing else is selected. */
      onlyNote(): string | undefined {
        const [only, ...others] = chosen()
        return only !== undefined && others.length === 0 && now().document.notes?.[only] ? only : undefined
      },
      remove(): void {
        if (readOnly) return
        const { document, selectedEdges } = now()
        const notes = chosen().filter((id) => document.notes?.[id])
        draft.perform({ kind: 'remove', blocks: chosenBlocks(), edges: [...selectedEdges], notes })
      },
      removeEdge(id: string): void {
        if (!readOnly) draft.perform({ kind: 'remove', edges: [id] })
      },
      /** Copies the selection to the clipboard. */
      copy(): void {
        const text = clipboard.copyText()
        if (text === undefined) return
        copied.current = text
        void copyText(text)
      },
      /** Remembers what a key copied. */
      onCopied(text: string): void {
        copied.current = text
      },
      paste: (text: string, at?: Point): boolean => clipboard.paste(text, pastePoint(at)),
      /** Pastes the clipboard at a point of the page. */
      async pasteCopied(at?: Point): Promise<void> {
        const text = await clipboardText()
        if (text !== undefined && clipboard.paste(text, pastePoint(at))) return
        if (copied.current !== undefined && clipboard.paste(copied.current, pastePoint(at))) return
        toast.show({ text: 'The clipboard contains no blocks.', tone: 'error' })
      },
      /** Puts the selected blocks into a new loop or parallel. */
      wrap(type: 'loop' | 'parallel'): void {
        if (readOnly) return
        const label = types.get(type)?.label ?? type
        const found = wrapEdits(now().document, chosenBlocks(), type, label, sizes())
        if ('reason' in found) return void toast.show({ text: found.reason, tone: 'error' })
        draft.perform(withRoom(now().document, found.edits, sizes()))
        draft.select([found.id])
        reveal(found.id)
        if (found.warning) toast.show({ text: found.warning, tone: 'error' })
      },
      /** The selected blocks as a separate workflow, or the reason why they cannot be one. */
      separate(name: string) {
        const kinds = [...types.values()].flatMap(({ type, starts }) => (starts ? [[type, starts] as const] : []))
        return separate(now().document, chosen(), { name, triggerKinds: new Map(kinds), sizes: sizes() })
      },
      toggle(): void {
        const blocks = chosenBlocks().flatMap((id) => now().document.blocks[id] ?? [])
        if (readOnly || blocks.length === 0) return
        const enabled = !blocks.some((block) => block.enabled ?? true)
        draft.perform({ kind: 'enable', ids: blocks.map(({ id }) => id), enabled })
      },
      /** Lays out the selected blocks, or everything when at most one is selected. */
      tidy(): void {
        if (readOnly) return
        const { document } = now()
        const blocks = chosenBlocks()
        const isPart = blocks.length > 1
        draft.perform({
          kind: 'move',
          to: isPart ? tidyBlocks(document, blocks, measured()) : autoLayout(document, measured()),
        })
        if (!isPart) requestAnimationFrame(view.fit)
      },
      undo: () => draft.undo(),
      redo: () => draft.redo(),
    }
  }, [draft, types, held, portions, readOnly, flow, store, toast, pointer])
}

/** Whether the inspector covers the canvas, as `max-lg:` in its classes says. */
function isNarrow(): boolean {
  return innerWidth < 1024
}

/** The last position of the pointer over the canvas, on the page. */
function useCanvasPointer() {
  const pointer = useRef<Point>(undefined)
  useEffect(() => {
    const onMove = ({ target, clientX, clientY }: PointerEvent) => {
      if (target instanceof Element && target.closest('.react-flow')) pointer.current = { x: clientX, y: clientY }
    }
    addEventListener('pointermove', onMove, { passive: true })
    return () => removeEventListener('pointermove', onMove)
  }, [])
  return pointer
}

/** The text on the clipboard; undefined where the browser does not let the page read it. */
async function clipboardText(): Promise<string | undefined> {
  try {
    return await navigator.clipboard?.readText()
  } catch {
    return undefined
  }
}
