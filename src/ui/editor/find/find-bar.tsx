import { ChevronDown, ChevronUp, Regex, Replace, WholeWord, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { countOf } from '../../parts/amount-text.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Input } from '../../parts/field.tsx'
import { useToast } from '../../parts/toast.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import type { Actions } from '../document/actions.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { HitList } from './hit-list.tsx'
import { placeKey } from './places.ts'
import { type Replacement, replacementOf } from './replacement.ts'
import type { Match, Query } from './search.ts'
import { clearMarks, showMatch } from './show-match.ts'
import { type FindResult, useMatches } from './use-matches.ts'

/** A request to find: a new object for every press of the keys. `text` was selected. */
export type FindRequest = { text?: string }

/** Where the user is among the matches: at the first match from here on. */
type Cursor = { key: string; at: number }

/** Finds and replaces text in the workflow. */
export function FindBar({
  request,
  remembered,
  actions,
  onClose,
}: {
  request: FindRequest
  /** The last query, which is kept while the editor is open. */
  remembered: { query?: Query }
  actions: Actions
  onClose: () => void
}) {
  const { draft, types, readOnly } = useEditing()
  const document = useDraft((state) => state.document)
  const toast = useToast()
  const field = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState<Query>(() => remembered.query ?? noQuery)
  const [isReplacing, setIsReplacing] = useState(false)
  const [cursor, setCursor] = useState<Cursor>()
  const [doubtful, setDoubtful] = useState<Replacement>()
  const result = useMatches(document, types, query)
  const current = useMemo(() => currentOf(result, cursor), [result, cursor])
  const isFresh = result?.document === document && result.query === query
  const change = (part: Partial<Query>) => {
    const next = { ...query, ...part }
    remembered.query = next
    setQuery(next)
  }
  // Each request selects the text of the field.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a request is handled once
  useEffect(() => {
    if (request.text) change({ text: request.text, isPattern: false })
    field.current?.focus()
    requestAnimationFrame(() => field.current?.select())
  }, [request])
  useEffect(() => clearMarks, [])

  const show = (index: number, focus: boolean) => {
    const match = result?.matches[index]
    const place = match && result?.places[match.place]
    if (!match || !place) return
    setCursor({ key: placeKey(place), at: match.from })
    actions.goTo(place.owner, leftShare)
    void showMatch(place, match, focus)
  }
  const step = (by: 1 | -1) => {
    const count = result?.matches.length ?? 0
    if (count === 0) return
    const next = current === undefined ? (by === 1 ? 0 : count - 1) : (current + by + count) % count
    show(next, false)
  }
  const apply = ({ edit, replaced, kept, references }: Replacement) => {
    setDoubtful(undefined)
    if (edit) {
      draft.seal()
      draft.perform(edit)
    }
    const changed = references > 0 ? ` ${countOf(references, 'reference')} to blocks changed.` : ''
    const left = kept > 0 ? ` ${countOf(kept, 'match', 'matches')} could not be replaced.` : ''
    const undo = replaced > 0 ? { action: { label: 'Undo', run: () => draft.undo() } } : {}
    toast.show({ text: `Replaced ${countOf(replaced, 'match', 'matches')}.${changed}${left}`, ...undo })
  }
  const replace = (matches: readonly Match[]) => {
    if (!result || !isFresh || readOnly) return
    const replacement = replacementOf(document, types, result.places, matches)
    if (replacement.problem) toast.show({ text: replacement.problem, tone: 'error' })
    else if (replacement.broken > 0) setDoubtful(replacement)
    else apply(replacement)
  }
  const replaceOne = () => {
    const match = current === undefined ? undefined : result?.matches[current]
    if (!match || !result) return step(1)
    setCursor({ key: placeKey(result.places[match.place]!), at: match.from + match.insert.length })
    replace([match])
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      onClose()
      const owner = current === undefined ? undefined : result?.places[result.matches[current]!.place]?.owner
      if (owner) actions.focusNode(owner)
    } else if (event.key === 'F3') {
      event.preventDefault()
      step(event.shiftKey ? -1 : 1)
    }
  }
  const onEnter = (event: KeyboardEvent, run: (by: 1 | -1) => void) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    run(event.shiftKey ? -1 : 1)
  }
  const count = result?.matches.length ?? 0
  return (
    <search
      aria-label="Find in this workflow"
      onKeyDown={onKeyDown}
      className="absolute top-3 right-3 z-20 w-104 max-w-[calc(100%-24px)] rounded-lg bg-raised shadow-popup max-lg:fixed max-lg:inset-x-2 max-lg:top-auto max-lg:bottom-2 max-lg:z-40 max-lg:w-auto max-lg:max-w-none"
    >
      <div className="flex flex-col gap-1.5 p-2">
        <div className="flex items-center gap-1">
          <Input
            ref={field}
            aria-label="Find"
            placeholder="Find in names, parameters, code and notes"
            value={query.text}
            maxLength={1_000}
            aria-invalid={result?.problem ? true : undefined}
            onChange={(event) => {
              setCursor(undefined)
              change({ text: event.target.value })
            }}
            onKeyDown={(event) => onEnter(event, step)}
            className="min-w-0 flex-1"
          />
          <IconButton
            label="Whole words"
            icon={<WholeWord size={16} />}
            size="small"
            pressed={query.isWord}
            onClick={() => change({ isWord: !query.isWord })}
          />
          <IconButton
            label="Regular expression"
            icon={<Regex size={15} />}
            size="small"
            pressed={query.isPattern}
            onClick={() => change({ isPattern: !query.isPattern })}
          />
          {!readOnly && (
            <IconButton
              label="Replace"
              icon={<Replace size={15} />}
              size="small"
              pressed={isReplacing}
              onClick={() => setIsReplacing(!isReplacing)}
            />
          )}
          <IconButton label="Close find" icon={<X size={16} />} size="small" onClick={onClose} />
        </div>
        {isReplacing && !readOnly && (
          <div className="flex items-center gap-1">
            <Input
              aria-label="Replace with"
              placeholder="Replace with"
              value={query.replacement}
              maxLength={1_000}
              onChange={(event) => change({ replacement: event.target.value })}
              onKeyDown={(event) => onEnter(event, replaceOne)}
              className="min-w-0 flex-1"
            />
            <Button size="small" disabled={count === 0 || !isFresh} onClick={replaceOne}>
              Replace
            </Button>
            <Button size="small" disabled={count === 0 || !isFresh} onClick={() => replace(result?.matches ?? [])}>
              Replace all
            </Button>
          </div>
        )}
        <div className="flex min-h-6 items-center gap-1 pl-1">
          <p role="status" className={`min-w-0 flex-1 text-xs ${result?.problem ? 'text-error-text' : 'text-muted'}`}>
            {statusOf(query, result, current)}
          </p>
          <IconButton
            label="Previous match"
            keys={keyOf('previous-match')}
            icon={<ChevronUp size={16} />}
            size="small"
            disabled={count === 0}
            onClick={() => step(-1)}
          />
          <IconButton
            label="Next match"
            keys={keyOf('next-match')}
            icon={<ChevronDown size={16} />}
            size="small"
            disabled={count === 0}
            onClick={() => step(1)}
          />
        </div>
      </div>
      {result && count > 0 && <HitList result={result} current={current} onPick={(index) => show(index, true)} />}
      <Confirm
        open={doubtful !== undefined}
        onClose={() => setDoubtful(undefined)}
        title="Some references would lead nowhere"
        action="Replace anyway"
        onConfirm={async () => doubtful && apply(doubtful)}
      >
        {doubtful &&
          `${countOf(doubtful.references, 'reference')} to blocks would change, and ${countOf(doubtful.broken, 'reference')} would no longer name a block of this workflow.`}
      </Confirm>
    </search>
  )
}

/** The bar covers the right part of the canvas. */
const leftShare = 0.55

const noQuery: Query = { text: '', isWord: false, isPattern: false, replacement: '' }

function currentOf(result: FindResult | undefined, cursor: Cursor | undefined): number | undefined {
  if (!result || !cursor || result.matches.length === 0) return undefined
  const place = result.places.findIndex((one) => placeKey(one) === cursor.key)
  if (place === -1) return undefined
  const index = result.matches.findIndex(
    (match) => match.place > place || (match.place === place && match.from >= cursor.at),
  )
  return index === -1 ? 0 : index
}

function statusOf({ text }: Query, result: FindResult | undefined, current: number | undefined): string {
  if (text === '') return ''
  if (!result) return 'Searching…'
  if (result.problem) return result.problem
  const { matches, hasMore } = result
  if (matches.length === 0) return 'No matches'
  const count = hasMore
    ? `the first ${countOf(matches.length, 'match', 'matches')}`
    : countOf(matches.length, 'match', 'matches')
  return current === undefined ? count.charAt(0).toUpperCase() + count.slice(1) : `${current + 1} of ${count}`
}
