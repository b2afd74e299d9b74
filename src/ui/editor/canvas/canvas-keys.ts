import { useLayoutEffect, useRef } from 'react'
import { hasMod, isTyping } from '../../parts/keys.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import type { Actions } from '../document/actions.ts'
import type { EditorAction } from './menus/editor-action.ts'
import { actionForKey } from './menus/editor-actions.ts'

export type CanvasKeys = {
  actions: Actions
  /** Everything that can be done now, with its keys. */
  list: () => EditorAction[]
  onEscape: () => void
  /** Selects the block that has the focus. */
  onFocused: () => void
  /** Whether an overlay currently receives the keyboard input. */
  isCovered: () => boolean
}

/** Handles keyboard shortcuts, copy and paste while the editor is mounted. */
export function useCanvasKeys(keys: CanvasKeys): void {
  const latest = useRef(keys)
  latest.current = keys
  // A layout effect, so that shortcuts work as soon as the canvas is visible.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || latest.current.isCovered()) return
      const command = commandOf(event, latest.current)
      if (!command) return
      event.preventDefault()
      command()
    }
    // Captures the event before the canvas does. React Flow moves the selected block on arrow keys, regardless of
    // modifiers.
    const onWalk = (event: KeyboardEvent) => {
      const direction = directions[event.key]
      if (!direction || isTyping(targetOf(event)) || latest.current.isCovered()) return
      const { actions } = latest.current
      const note = hasMod(event) ? actions.onlyNote() : undefined
      if (!event.altKey && note === undefined) return
      event.preventDefault()
      event.stopPropagation()
      if (note === undefined) actions.walk(direction)
      else actions.resizeNote(note, noteSteps[direction])
    }
    // Clipboard events also work on plain HTTP, where `navigator.clipboard` does not exist.
    const onCopy = (event: ClipboardEvent) => {
      if (isTyping(targetOf(event)) || latest.current.isCovered() || getSelection()?.toString()) return
      const text = latest.current.actions.copyText()
      if (text === undefined) return
      event.clipboardData?.setData('text/plain', text)
      latest.current.actions.onCopied(text)
      event.preventDefault()
      if (event.type === 'cut') latest.current.actions.remove()
    }
    const onPaste = (event: ClipboardEvent) => {
      if (isTyping(targetOf(event)) || latest.current.isCovered()) return
      const text = event.clipboardData?.getData('text/plain')
      if (text && latest.current.actions.paste(text)) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    addEventListener('keydown', onWalk, { capture: true })
    addEventListener('copy', onCopy)
    addEventListener('cut', onCopy)
    addEventListener('paste', onPaste)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('keydown', onWalk, { capture: true })
      removeEventListener('copy', onCopy)
      removeEventListener('cut', onCopy)
      removeEventListener('paste', onPaste)
    }
  }, [])
}

const directions: Readonly<Record<string, 'left' | 'right' | 'up' | 'down'>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

/** How `Ctrl` with an arrow key changes the size of a note. */
const noteSteps = { left: { x: -20, y: 0 }, right: { x: 20, y: 0 }, up: { x: 0, y: -20 }, down: { x: 0, y: 20 } }

function commandOf(event: KeyboardEvent, keys: CanvasKeys): (() => void) | undefined {
  const { actions, list, onEscape, onFocused } = keys
  const { key, shiftKey, altKey } = event
  const target = targetOf(event)
  if (altKey) return undefined
  if (hasMod(event)) {
    const found = actionForKey(list(), shiftKey ? `Mod+Shift+${key}` : `Mod+${key}`)
    if (!found || (isTyping(target) && !whileTyping.has(found.id))) return undefined
    // The browser's own events copy and paste: they also work on plain HTTP.
    return ['copy', 'paste'].includes(found.id) ? undefined : found.run
  }
  if (isTyping(target)) return undefined
  if (key === 'Escape') return onEscape
  const isOn = (places: string) => target instanceof HTMLElement && target.closest(places) !== null
  const isOnControl = isOn('button, a, summary, [role=tab], [role=menuitem]')
  if (key === 'Enter' && isOnControl) return undefined
  // A block that has the focus without being selected is the one that these keys mean.
  if (selectsFocused.has(key.toLowerCase())) onFocused()
  const found = actionForKey(list(), key)
  // Letters that are typed in a panel would change the canvas by accident.
  const isAway = isOn('aside, search, header, nav') || (isOnControl && !isOn('#canvas'))
  if (isAway && !away.has(found?.id ?? '')) return undefined
  if (key === keyOf('zoom-in')) return actions.zoomIn
  return key === keyOf('zoom-out') ? actions.zoomOut : found?.run
}

/** The actions whose keys also work in a text field. */
const whileTyping: ReadonlySet<string> = new Set(['run', 'run-with', 'find'])

/** The actions whose keys also work in panels. */
const away: ReadonlySet<string> = new Set(['add-block', 'next', 'inspect', 'edit-note'])

const selectsFocused: ReadonlySet<string> = new Set([keyOf('add-block'), keyOf('connect').toLowerCase()])

/**
 * The true target of an event. The code editor lives in a shadow root, which hides the target behind its host element.
 */
function targetOf(event: Event): EventTarget | null {
  return event.composedPath()[0] ?? event.target
}
