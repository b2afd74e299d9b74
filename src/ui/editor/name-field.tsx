import { type KeyboardEvent, useState } from 'react'
import { classes } from '../parts/class-names.ts'

/** A name that is changed in its place: Enter takes it, Escape leaves it as it was. */
export function NameField({
  label,
  name,
  onRename,
  readOnly,
  className,
}: {
  label: string
  name: string
  onRename: (name: string) => void
  readOnly: boolean
  className?: string
}) {
  const [typed, setTyped] = useState<string>()
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') event.currentTarget.blur()
    if (event.key === 'Escape') {
      setTyped(undefined)
      event.currentTarget.value = name
      requestAnimationFrame(() => (event.target as HTMLInputElement).blur())
      event.stopPropagation()
    }
  }
  return (
    <input
      aria-label={label}
      value={typed ?? name}
      readOnly={readOnly}
      maxLength={200}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => {
        if (typed !== undefined && typed.trim() !== '' && typed.trim() !== name) onRename(typed.trim())
        setTyped(undefined)
      }}
      className={classes(
        '-mx-1 field-sizing-content max-w-full min-w-16 truncate rounded-md bg-transparent px-1 py-0.5 text-sm hover:not-read-only:bg-hover',
        className,
      )}
    />
  )
}
