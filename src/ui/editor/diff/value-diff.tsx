import { useMemo, useState } from 'react'
import { countOf } from '../../parts/amount-text.ts'
import { classes } from '../../parts/class-names.ts'
import { hidden } from '../document/masked-secrets.ts'
import { foldLines, textDiff } from '../document/text-diff.ts'

/** A value before and after: short ones beside each other, long texts line by line. */
export function ValueDiff({ label, before, after }: { label: string; before: unknown; after: unknown }) {
  const [old, now] = [textOf(before), textOf(after)]
  const isSecret = old === now && old?.includes(hidden) === true
  const isShort = [old, now].every((text) => text === undefined || (text.length <= shortMax && !text.includes('\n')))
  return (
    <div className="grid gap-x-3 gap-y-0.5 @md:grid-cols-[10rem_minmax(0,1fr)]">
      <dt className="pt-0.5 text-xs break-words text-muted">{label}</dt>
      <dd className="min-w-0">
        {isSecret ? (
          <span className="text-xs text-muted">The secret changed. Its values are not shown.</span>
        ) : isShort ? (
          <ShortDiff old={old} now={now} />
        ) : (
          <TextDiff label={label} old={old ?? ''} now={now ?? ''} />
        )}
      </dd>
    </div>
  )
}

const shortMax = 80

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function ShortDiff({ old, now }: { old: string | undefined; now: string | undefined }) {
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 gap-y-1 font-mono text-xs leading-5">
      {old !== undefined && (
        <del className="rounded-sm bg-error-soft px-1 break-all text-error-text">{old === '' ? 'empty' : old}</del>
      )}
      {old !== undefined && now !== undefined && (
        <span aria-hidden="true" className="text-muted">
          →
        </span>
      )}
      {now !== undefined && (
        <ins className="rounded-sm bg-ok-soft px-1 break-all text-ok-text no-underline">
          {now === '' ? 'empty' : now}
        </ins>
      )}
    </span>
  )
}

/** Line by line. A long diff is shown in part, so that a large document cannot freeze the page. */
function TextDiff({ label, old, now }: { label: string; old: string; now: string }) {
  const lines = useMemo(() => foldLines(old === '' || now === '' ? oneSided(old, now) : textDiff(old, now)), [old, now])
  const [shown, setShown] = useState(linesMax)
  return (
    <div className="overflow-hidden rounded-md border border-line bg-surface">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={`Changes of ${label}`}
        className="max-h-80 overflow-auto py-1 font-mono text-xs leading-5 outline-offset-[-2px]"
      >
        <div className="w-max min-w-full">
          {lines.slice(0, shown).map((line, index) =>
            line.kind === 'folded' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text
              <div key={index} className="bg-sunken px-2 text-muted">
                {countOf(line.count, 'unchanged line')}
              </div>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text
              <div key={index} className={classes('px-2 whitespace-pre', looks[line.kind])}>
                <span aria-hidden="true" className="mr-2 inline-block w-2 select-none">
                  {marks[line.kind]}
                </span>
                {line.kind !== 'same' && <span className="sr-only">{line.kind}: </span>}
                {line.text.length > lineMax ? `${line.text.slice(0, lineMax)}…` : line.text}
              </div>
            ),
          )}
        </div>
      </section>
      {lines.length > shown && (
        <button
          type="button"
          className="w-full border-t border-line px-2 py-1 text-left text-xs text-accent-text hover:bg-hover"
          onClick={() => setShown(shown + linesMax)}
        >
          Show {countOf(Math.min(linesMax, lines.length - shown), 'more line')}
        </button>
      )}
    </div>
  )
}

/** A text that was added or removed as a whole. */
function oneSided(old: string, now: string) {
  const kind = old === '' ? ('added' as const) : ('removed' as const)
  return (old || now).split('\n').map((text) => ({ kind, text }))
}

const linesMax = 400
const lineMax = 2_000
const marks = { same: ' ', added: '+', removed: '−' }
const looks = { same: '', added: 'bg-ok-soft text-ok-text', removed: 'bg-error-soft text-error-text' }
