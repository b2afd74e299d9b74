import { useLayoutEffect, useRef } from 'react'
import { hasMod, isTyping } from '../../parts/keys.tsx'
import type { Actions } from '../document/actions.ts'

export type CanvasKeys = {
  actions: Actions
  onPalette: () => void
  onRun: () => void
  onRunWith: () => void
  onConnect: () => void
  onInspect: () => void
  onEscape: () => void
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
      if (!event.altKey || !direction || isTyping(targetOf(event)) || latest.current.isCovered()) return
      event.preventDefault()
      event.stopPropagation()
      latest.current.actions.walk(direction)
    }
    // Clipboard events also work on plain HTTP, where `navigator.clipboard` does not exist.
    const onCopy = (event: ClipboardEvent) => {
      if (isTyping(targetOf(event)) || latest.current.isCovered() || getSelection()?.toString()) return
      const text = latest.current.actions.copyText()
      if (text === undefined) return
      event.clipboardData?.setData('text/plain', text)
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

function commandOf(event: KeyboardEvent, keys: CanvasKeys): (() => void) | undefined {
  const { actions, onPalette, onRun, onRunWith, onConnect, onInspect, onEscape } = keys
  const { key } = event
  const lower = key.toLowerCase()
  if (hasMod(event)) {
    if (key === 'Enter') return event.shiftKey ? onRunWith : onRun
    if (lower === 'z') return isTyping(targetOf(event)) ? undefined : event.shiftKey ? actions.redo : actions.undo
    if (isTyping(targetOf(event)) || event.altKey) return undefined
    const withMod: Record<string, () => void> = {
      y: actions.redo,
      d: () => actions.duplicate(),
      a: () => actions.selectAll(),
    }
    return withMod[lower]
  }
  if (isTyping(targetOf(event))) return undefined
  if (event.altKey) return undefined
  const target = targetOf(event)
  const onControl = target instanceof HTMLElement && target.closest('button, a, [role=tab], [role=menuitem]')
  if (key === 'Enter') return onControl ? undefined : onInspect
  const plain: Record<string, () => void> = {
    '/': onPalette,
    escape: onEscape,
    delete: actions.remove,
    backspace: actions.remove,
    c: onConnect,
    d: actions.toggle,
    n: actions.addNote,
    l: actions.tidy,
    f: actions.fit,
    '+': actions.zoomIn,
    '-': actions.zoomOut,
  }
  return plain[lower]
}

/**
 * The true target of an event. The code editor lives in a shadow root, which hides the target behind its host element.
 */
function targetOf(event: Event): EventTarget | null {
  return event.composedPath()[0] ?? event.target
}
