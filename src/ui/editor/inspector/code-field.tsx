import { lazy, Suspense, useState } from 'react'
import type { Tied } from '../../parts/field.tsx'
import { useLastField } from '../values/last-field.ts'
import { PreviewLine } from '../values/preview-line.tsx'
import { usePlacedError } from './sides/run-error.tsx'
import { useSuggestions } from './use-suggestions.ts'

// The code editor is half the size of everything else, so it is loaded only for blocks with code.
const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

/**
 * A field for JavaScript or JSON. A JSON value is shown as text and parsed back. Text that is not valid JSON is kept as
 * it is, because it may be a template.
 */
export function CodeField({
  language,
  label,
  value,
  onChange,
  readOnly,
  tied,
  isTall = false,
}: {
  language: 'javascript' | 'json'
  label: string
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
  tied: Pick<Tied, 'aria-describedby'>
  /** Fills the height of its container. */
  isTall?: boolean
}) {
  const suggestions = useSuggestions()
  const lastField = useLastField()
  const placed = usePlacedError()
  const line = language === 'javascript' ? placed?.line : undefined
  const [written, setWritten] = useState<{ text: string; value: unknown }>()
  // Keeps the typed text as long as it still represents the value.
  const text = written && same(written.value, value) ? written.text : textFor(language, value)
  const change = (next: string) => {
    const meant = language === 'json' ? meaningOf(next) : next
    setWritten({ text: next, value: meant })
    onChange(meant)
  }
  return (
    <>
      <Suspense fallback={<div className="skeleton h-28" />}>
        <CodeEditor
          language={language}
          label={label}
          text={text}
          onChange={change}
          readOnly={readOnly}
          suggestions={suggestions}
          describedBy={tied['aria-describedby']}
          failure={line === undefined || !placed ? undefined : { line, message: placed.message }}
          lastField={lastField}
          isTall={isTall}
        />
      </Suspense>
      {language === 'json' && <PreviewLine value={value} mode="json" />}
    </>
  )
}

function textFor(language: 'javascript' | 'json', value: unknown): string {
  if (value === undefined) return ''
  if (language === 'javascript' || typeof value === 'string')
    return typeof value === 'string' ? value : JSON.stringify(value)
  return JSON.stringify(value, null, 2)
}

function meaningOf(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    const value = JSON.parse(text) as unknown
    // A JSON text that is a single string would lose its quotes.
    return typeof value === 'string' ? text : value
  } catch {
    return text
  }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
