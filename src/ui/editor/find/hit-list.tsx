import { useEffect, useMemo, useRef } from 'react'
import { classes } from '../../parts/class-names.ts'
import { useVirtualRows } from '../../parts/use-virtual-rows.ts'
import { BlockIcon } from '../canvas/block-icon.tsx'
import type { Document } from '../document/document.ts'
import type { Place } from './places.ts'
import type { Match } from './search.ts'
import type { FindResult } from './use-matches.ts'

const rowHeight = 28

type Row = { kind: 'owner'; id: string; count: number } | { kind: 'match'; index: number }

/** All matches, grouped by block, with the text around them. */
export function HitList({
  result: { document, places, matches },
  current,
  onPick,
}: {
  result: FindResult
  /** The index of the current match. */
  current: number | undefined
  onPick: (index: number) => void
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useMemo(() => rowsOf(places, matches), [places, matches])
  const { from, to, height, scrollTo } = useVirtualRows(scroller, { count: rows.length, rowHeight })
  useEffect(() => {
    const row = rows.findIndex((one) => one.kind === 'match' && one.index === current)
    if (row !== -1) scrollTo(row)
  }, [rows, current, scrollTo])
  return (
    <section
      ref={scroller}
      aria-label="Matches"
      className="max-h-[min(40vh,336px)] overflow-y-auto border-t border-line max-lg:max-h-40"
    >
      <div className="relative m-1" style={{ height }}>
        {rows.slice(from, to).map((row, at) => (
          <div
            key={row.kind === 'owner' ? row.id : row.index}
            className="absolute inset-x-0"
            style={{ top: (from + at) * rowHeight, height: rowHeight }}
          >
            {row.kind === 'owner' ? (
              <Owner id={row.id} count={row.count} document={document} />
            ) : (
              <Hit
                place={places[matches[row.index]!.place]!}
                match={matches[row.index]!}
                isCurrent={row.index === current}
                onPick={() => onPick(row.index)}
              />
            )}
          </div>
        ))}
      </div>
    </section>
  )
}

function rowsOf(places: readonly Place[], matches: readonly Match[]): Row[] {
  const rows: Row[] = []
  let owner: Extract<Row, { kind: 'owner' }> | undefined
  for (const [index, { place }] of matches.entries()) {
    const id = places[place]!.owner
    if (owner?.id !== id) {
      owner = { kind: 'owner', id, count: 0 }
      rows.push(owner)
    }
    owner.count += 1
    rows.push({ kind: 'match', index })
  }
  return rows
}

function Owner({ id, count, document }: { id: string; count: number; document: Document }) {
  const block = document.blocks[id]
  return (
    <h3 className="flex h-full items-center gap-2 px-2 text-xs font-medium">
      {block && <BlockIcon type={block.type} size="small" />}
      <span className="min-w-0 flex-1 truncate">{block ? block.name : 'Note'}</span>
      <span className="text-2xs font-normal text-muted">{count}</span>
    </h3>
  )
}

function Hit({
  place,
  match,
  isCurrent,
  onPick,
}: {
  place: Place
  match: Match
  isCurrent: boolean
  onPick: () => void
}) {
  const { before, text, after, line } = contextOf(place.text, match)
  const label = line === undefined ? place.label : `${place.label}, line ${line}`
  return (
    <button
      type="button"
      aria-current={isCurrent ? 'true' : undefined}
      onClick={onPick}
      className={classes(
        'flex h-full w-full cursor-default items-center gap-2 rounded-md pr-2 pl-8 text-left hover:bg-hover',
        isCurrent && 'bg-hover',
      )}
    >
      <span className="max-w-[45%] shrink-0 truncate text-2xs text-muted">{label}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-xs">
        {before}
        <mark className="rounded-sm bg-found text-text">{text}</mark>
        {after}
      </span>
    </button>
  )
}

/** The line of a match, cut so that the match is visible. */
function contextOf(text: string, { from, to }: Match) {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const end = text.indexOf('\n', to)
  const left = text.slice(Math.max(start, from - beforeMax), from).trimStart()
  return {
    before: from - start > beforeMax ? `…${left}` : left,
    text: text.slice(from, Math.min(to, from + 200)),
    after: text.slice(to, Math.min(end === -1 ? text.length : end, to + 120)),
    line: text.includes('\n') ? text.slice(0, from).split('\n').length : undefined,
  }
}

const beforeMax = 14
