import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { IconButton } from './button.tsx'
import { isTyping } from './keys.tsx'

/** Details next to a list that stays usable. On a narrow page they cover the list. Escape closes them. */
export function SidePanel({
  label,
  title,
  actions,
  onClose,
  children,
}: {
  label: string
  title: ReactNode
  actions?: ReactNode
  onClose: () => void
  children: ReactNode
}) {
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isTyping(event.target)) return
      // An open menu or dialog handles the key first.
      if (document.querySelector('[role=dialog], [role=menu], [role=listbox]')) return
      close.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <aside
      aria-label={label}
      className="flex min-h-0 w-full flex-col border-l border-line bg-bg max-lg:fixed max-lg:inset-0 max-lg:z-30 lg:w-[min(46%,680px)] lg:shrink-0"
    >
      <header className="flex min-h-11 shrink-0 items-center gap-2 border-b border-line py-1 pr-2 pl-4">
        <div className="min-w-0 flex-1">{title}</div>
        {actions}
        <IconButton label="Close" keys="Esc" icon={<X size={16} />} onClick={onClose} />
      </header>
      {children}
    </aside>
  )
}
