import { useEffect, useRef } from 'react'
import { hasMod, isTyping } from '../parts/keys.tsx'
import type { Actions } from './actions.ts'

export type CanvasKeys = {
  actions: Actions
  onPalette: () => void
  onRun: () => void
  onConnect: () => void
  onInspect: () => void
  onEscape: () => void
  /** Whether something lies over the canvas that has the keys. */
  isCovered: () => boolean
}

/** Listens for the canvas's keys, and for copying and pasting, while the editor is on the page. */
export function useCanvasKeys(keys: CanvasKeys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || latest.current.isCovered()) return
      const command = commandOf(event, latest.current)
      if (!command) return
      event.preventDefault()
      command()
    }
    // The events of the browser's own commands: they carry the clipboard on plain HTTP, too.
    const onCopy = (event: ClipboardEvent) => {
      if (isTyping(event.target) || latest.current.isCovered() || getSelection()?.toString()) return
      const text = latest.current.actions.copyText()
      if (text === undefined) return
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
      if (event.type === 'cut') latest.current.actions.remove()
    }
    const onPaste = (event: ClipboardEvent) => {
      if (isTyping(event.target) || latest.current.isCovered()) return
      const text = event.clipboardData?.getData('text/plain')
      if (text && latest.current.actions.paste(text)) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    addEventListener('copy', onCopy)
    addEventListener('cut', onCopy)
    addEventListener('paste', onPaste)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('copy', onCopy)
      removeEventListener('cut', onCopy)
      removeEventListener('paste', onPaste)
    }
  }, [])
}

function commandOf(event: KeyboardEvent, keys: CanvasKeys): (() => void) | undefined {
  const { actions, onPalette, onRun, onConnect, onInspect, onEscape } = keys
  const { key } = event
  const lower = key.toLowerCase()
  if (hasMod(event)) {
    if (key === 'Enter') return onRun
    if (lower === 'z') return isTyping(event.target) ? undefined : event.shiftKey ? actions.redo : actions.undo
    if (isTyping(event.target) || event.altKey) return undefined
    const withMod: Record<string, () => void> = {
      y: actions.redo,
      d: () => actions.duplicate(),
      a: () => actions.selectAll(),
    }
    return withMod[lower]
  }
  if (isTyping(event.target)) return undefined
  if (event.altKey) {
    const direction = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const
    const walk = direction[key as keyof typeof direction]
    return walk && (() => actions.walk(walk))
  }
  const onControl =
    event.target instanceof HTMLElement && event.target.closest('button, a, [role=tab], [role=menuitem]')
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
