import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { classes } from '../../parts/class-names.ts'
import { controlLook } from '../../parts/field.tsx'
import { matchScore } from '../../parts/find.ts'
import { hasMod } from '../../parts/keys.tsx'
import { insertInto, useLastField } from '../values/last-field.ts'
import { PreviewLine, type PreviewMode } from '../values/preview-line.tsx'
import { NoVariable } from './no-variable.tsx'
import { openReference, type Suggestion, splitReferences } from './suggestions.ts'
import { useSuggestions } from './use-suggestions.ts'

type Tied = { id?: string; 'aria-describedby'?: string; 'aria-invalid'?: true; 'aria-label'?: string }

/**
 * A text field with highlighted references. `<` suggests outputs of earlier blocks, `{{` suggests environment
 * variables. The field grows with its text.
 */
export function TemplateField({
  value,
  onChange,
  onDone,
  placeholder,
  readOnly,
  mono,
  lines = 1,
  tied = {},
  preview = 'template',
}: {
  value: string
  onChange: (value: string) => void
  onDone?: () => void
  placeholder?: string
  readOnly?: boolean
  mono?: boolean
  lines?: number
  tied?: Tied
  /** How the text is evaluated with the values of the run. */
  preview?: PreviewMode
}) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const suggestions = useSuggestions()
  const lastField = useLastField()
  const [owner] = useState({})
  useEffect(() => () => lastField?.gone(owner), [lastField, owner])
  const [caret, setCaret] = useState<number>()
  const [at, setAt] = useState(0)
  const open = caret === undefined || readOnly ? undefined : openReference(value.slice(0, caret))
  const found = open ? matching(suggestions, open.kind, open.typed) : []
  const isOpen = found.length > 0
  const current = Math.min(at, found.length - 1)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = area.current
    if (!element) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight + 2, 360)}px`
  }, [value])

  const insert = (suggestion: Suggestion) => {
    const element = area.current
    if (!open || caret === undefined || !element) return
    const rest = value.slice(caret).replace(open.kind === 'block' ? /^[\w.[\]"$-]*>?/ : /^\w*(\}\})?/, '')
    const next = value.slice(0, open.start) + suggestion.text + rest
    const place = open.start + suggestion.text.length
    onChange(next)
    setCaret(undefined)
    requestAnimationFrame(() => element.setSelectionRange(place, place))
  }
  const done = () => {
    setCaret(undefined)
    onDone?.()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Runs the workflow with the text as it stands, instead of inserting a suggestion.
    if (event.key === 'Enter' && hasMod(event)) return done()
    if (!isOpen) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((current + step + found.length) % found.length)
    else if (event.key === 'Enter' || event.key === 'Tab') insert(found[current]!)
    else if (event.key === 'Escape') setCaret(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const font = mono ? 'font-mono text-xs leading-5' : 'text-sm leading-5'
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <div className="relative">
        <div
          aria-hidden="true"
          className={classes(
            font,
            'pointer-events-none absolute inset-0 overflow-hidden border border-transparent px-2.5 py-[5px] [overflow-wrap:anywhere] whitespace-pre-wrap',
          )}
        >
          {splitReferences(value).map(({ text, isReference }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
            <span key={index} className={isReference ? 'rounded-sm bg-accent-soft text-accent-text' : undefined}>
              {text}
            </span>
          ))}
          {value.endsWith('\n') && ' '}
        </div>
        {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is a combobox whenever there is something to complete */}
        <textarea
          ref={area}
          {...tied}
          role={suggestions.length > 0 ? 'combobox' : undefined}
          aria-expanded={suggestions.length > 0 ? isOpen : undefined}
          aria-autocomplete={suggestions.length > 0 ? 'list' : undefined}
          aria-controls={isOpen ? `${id}-list` : undefined}
          aria-activedescendant={isOpen ? `${id}-${current}` : undefined}
          value={value}
          rows={lines}
          readOnly={readOnly}
          placeholder={placeholder}
          spellCheck={false}
          onChange={(event) => {
            onChange(event.target.value)
            setCaret(event.target.selectionStart)
            setAt(0)
          }}
          onFocus={({ currentTarget }) => {
            if (!readOnly) lastField?.focused(owner, (text) => insertInto(currentTarget, text))
          }}
          onKeyDown={onKeyDown}
          onBlur={(event) => {
            // The focus moved into the suggestions.
            if (event.currentTarget.parentElement?.contains(event.relatedTarget)) return
            done()
          }}
          className={classes(
            controlLook,
            font,
            'relative block resize-none overflow-hidden bg-transparent! py-[5px] text-transparent! caret-text [overflow-wrap:anywhere]',
          )}
        />
        {isOpen && <SuggestionList id={id} found={found} current={current} onPoint={setAt} onPick={insert} />}
        {open?.kind === 'environment' && !isOpen && (
          <NoVariable
            typed={open.typed}
            onCreated={(name) => insert({ text: `{{${name}}}`, from: '' })}
            onLeave={() => setCaret(undefined)}
          />
        )}
      </div>
      <PreviewLine value={value} mode={preview} />
    </div>
  )
}

function SuggestionList({
  id,
  found,
  current,
  onPoint,
  onPick,
}: {
  id: string
  found: readonly Suggestion[]
  current: number
  onPoint: (at: number) => void
  onPick: (suggestion: Suggestion) => void
}) {
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label="References"
      className="popup absolute inset-x-0 top-full z-30 mt-1 max-h-64 overflow-y-auto p-1"
    >
      {found.map((suggestion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
        <div
          key={suggestion.text}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === current}
          ref={index === current ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
          onMouseMove={() => onPoint(index)}
          // Keep the focus in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(suggestion)}
          className={classes('cursor-default rounded-md px-2 py-1', index === current && 'bg-hover')}
        >
          <div className="flex items-center gap-2">
            <span className="min-w-0 flex-1 truncate font-mono text-xs">{suggestion.text}</span>
            <span className="shrink-0 text-2xs text-muted">{suggestion.from}</span>
          </div>
          {suggestion.sample !== undefined && (
            <div className="truncate font-mono text-2xs text-muted">{suggestion.sample}</div>
          )}
        </div>
      ))}
    </div>
  )
}

function matching(all: readonly Suggestion[], kind: 'block' | 'environment', typed: string): Suggestion[] {
  const mark = kind === 'block' ? '<' : '{{'
  // Errors are rarely wanted, unless they are being typed.
  const isLast = ({ text }: Suggestion) => /^<[^.]+\.error\b/.test(text) && !/\.e/i.test(typed)
  return all
    .flatMap((suggestion) => {
      if (!suggestion.text.startsWith(mark)) return []
      if (suggestion.isAlias && !(typed !== '' && suggestion.text.startsWith(mark + typed))) return []
      const score = matchScore(suggestion.text.slice(mark.length), typed)
      return score === undefined ? [] : [{ suggestion, score }]
    })
    .toSorted(
      (a, b) => Number(isLast(a.suggestion)) - Number(isLast(b.suggestion)) || (typed === '' ? 0 : b.score - a.score),
    )
    .slice(0, 60)
    .map(({ suggestion }) => suggestion)
}
