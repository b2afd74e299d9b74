import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { classes } from '../parts/class-names.ts'
import { hasMod } from '../parts/keys.tsx'

/**
 * A name that is edited in place. Enter applies it, Escape restores it. An invalid name stays in the field with an
 * error.
 */
export function NameField({
  label,
  name,
  onRename,
  errorOf,
  readOnly,
  isNew = false,
  onEnter,
  className,
}: {
  label: string
  name: string
  onRename: (name: string) => void
  /** Why a name is invalid; undefined when it is valid. */
  errorOf?: (name: string) => string | undefined
  readOnly: boolean
  /** Selects the name when it appears, so that typing replaces it. */
  isNew?: boolean
  /** Called after Enter has applied a name. */
  onEnter?: () => void
  className?: string
}) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isNew) field.current?.select()
  }, [isNew])
  const [typed, setTyped] = useState<string>()
  const wanted = typed?.trim()
  const error = wanted ? errorOf?.(wanted) : undefined
  const apply = () => {
    if (error) return
    if (wanted && wanted !== name) onRename(wanted)
    setTyped(undefined)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    // Mod+Enter also runs the workflow, with the new name. The field keeps the focus.
    if (event.key === 'Enter' && hasMod(event)) apply()
    else if (event.key === 'Enter' && !error) {
      // Otherwise the key would also press the button that receives the focus.
      event.preventDefault()
      event.currentTarget.blur()
      onEnter?.()
    }
    if (event.key === 'Escape') {
      setTyped(undefined)
      event.currentTarget.value = name
      requestAnimationFrame(() => (event.target as HTMLInputElement).blur())
      event.stopPropagation()
    }
  }
  return (
    <>
      <input
        ref={field}
        aria-label={label}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? id : undefined}
        value={typed ?? name}
        title={name}
        readOnly={readOnly}
        maxLength={200}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={apply}
        className={classes(
          '-mx-1 field-sizing-content max-w-full shrink min-w-16 truncate rounded-md bg-transparent px-1 py-0.5 text-sm hover:not-read-only:bg-hover',
          error && 'text-error-text',
          className,
        )}
      />
      {error && (
        <div id={id} role="alert" className="mt-1 text-xs break-words text-error-text">
          {error}
        </div>
      )}
    </>
  )
}
