import { useEffect, useRef } from 'react'

/** A keyboard shortcut, such as `Mod+K`: ⌘ on a Mac, Ctrl elsewhere. */
export function Keys({ text }: { text: string }) {
  return (
    <span className="inline-flex gap-0.5" aria-hidden="true">
      {(text === '+' ? [text] : text.split('+')).map((key) => (
        <kbd
          key={key}
          className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-sm border border-line bg-sunken px-1 font-sans text-2xs text-muted"
        >
          {keyName(key)}
        </kbd>
      ))}
    </span>
  )
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

function keyName(key: string): string {
  const names: Record<string, string> = isMac
    ? { Mod: '⌘', Shift: '⇧', Alt: '⌥', Enter: '↵', Backspace: '⌫' }
    : { Mod: 'Ctrl', Enter: '↵', Backspace: '⌫' }
  return names[key] ?? key
}

/** Whether the platform's `Mod` key is pressed. */
export function hasMod(event: { metaKey: boolean; ctrlKey: boolean }): boolean {
  return isMac ? event.metaKey : event.ctrlKey
}

/** Whether key presses currently go into a text field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Single-key shortcuts, active while nobody is typing and no dialog or menu is open. */
export function useSingleKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const run = latest.current[event.key.toLowerCase()]
      if (!run || document.querySelector('[role=dialog], [role=menu]')) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
