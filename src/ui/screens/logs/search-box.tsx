import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Input } from '../../parts/field.tsx'
import { searchCharsMax } from './log-filter.ts'

/** Searches for a text after a short pause in typing, or with Enter. */
export function SearchBox({
  value,
  onChange,
}: {
  value: string | undefined
  onChange: (text: string | undefined) => void
}) {
  const [text, setText] = useState(value ?? '')
  const [known, setKnown] = useState(value)
  if (value !== known) {
    setKnown(value)
    if ((value ?? '') !== text.trim()) setText(value ?? '')
  }
  const wanted = text.trim() || undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause
  useEffect(() => {
    if (wanted === value) return
    const timer = setTimeout(() => onChange(wanted), pauseMs)
    return () => clearTimeout(timer)
  }, [wanted])
  return (
    <form
      className="relative min-w-0 flex-1 md:w-56 md:flex-none"
      onSubmit={(event) => {
        event.preventDefault()
        if (wanted !== value) onChange(wanted)
      }}
    >
      <Search size={14} className="pointer-events-none absolute top-2.25 left-2.5 text-muted" aria-hidden="true" />
      <Input
        type="search"
        aria-label="Search in errors, workflows, labels and IDs"
        placeholder="Error, workflow, label or ID"
        maxLength={searchCharsMax}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="pl-8"
      />
    </form>
  )
}

const pauseMs = 300
