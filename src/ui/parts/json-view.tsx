import { ChevronRight } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { bytesText, countOf, countText } from './amount-text.ts'
import { classes } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'
import { openLevels } from './open-levels.ts'

/** A value of a run, as a collapsible tree. Only open parts are drawn, and long lists in chunks. */
export function JsonView({
  value,
  label,
  aside,
  openDepth = 2,
}: {
  value: unknown
  label: string
  aside?: ReactNode
  /** Levels that are open at first, unless they contain too many values. */
  openDepth?: number
}) {
  const levels = useMemo(() => Math.max(1, openLevels(value, openDepth)), [value, openDepth])
  return (
    <section aria-label={label} className="min-w-0 shrink-0 overflow-hidden rounded-lg border border-line bg-surface">
      <header className="flex h-8 items-center gap-1 border-b border-line pr-1 pl-3">
        <h3 className="min-w-0 flex-1 truncate text-xs font-medium text-muted">{label}</h3>
        {aside}
        <CopyButton label={`Copy ${label.toLowerCase()}`} text={() => textOf(value)} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div tabIndex={0} className="max-h-120 overflow-auto px-3 py-2 font-mono text-xs leading-5 outline-offset-[-2px]">
        <Value value={value} depth={0} openDepth={levels} />
      </div>
    </section>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}

type ValueProps = { name?: string | number; value: unknown; depth: number; openDepth: number }

function Value({ name, value, depth, openDepth }: ValueProps) {
  if (typeof value !== 'object' || value === null) {
    return (
      <Line name={name}>
        <Leaf value={value} bare={name === undefined} />
      </Line>
    )
  }
  if (isTruncated(value)) return <Truncated name={name} value={value} />
  return <Branch {...(name === undefined ? {} : { name })} value={value} depth={depth} openDepth={openDepth} />
}

function Branch({ name, value, depth, openDepth }: ValueProps & { value: object }) {
  const isList = Array.isArray(value)
  const keys = isList ? value.length : Object.keys(value).length
  const [isOpen, setIsOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(partSize)
  if (keys === 0) return <Line name={name}>{isList ? '[]' : '{}'}</Line>
  const members: [string | number, unknown][] = !isOpen
    ? []
    : isList
      ? value.slice(0, shown).map((item, index) => [index, item])
      : Object.entries(value).slice(0, shown)
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="-ml-1 flex max-w-full cursor-default items-center gap-1 rounded-sm pr-1 text-left hover:bg-hover"
      >
        <ChevronRight
          size={12}
          aria-hidden="true"
          className={classes('shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
        />
        {name !== undefined && <Name name={name} />}
        <span className="text-muted">{isList ? `[ ${countOf(keys, 'item')} ]` : `{ ${countOf(keys, 'field')} }`}</span>
      </button>
      {isOpen && (
        <div className="ml-[3px] border-l border-line pl-3.5">
          {members.map(([key, member]) => (
            <Value key={key} name={key} value={member} depth={depth + 1} openDepth={openDepth} />
          ))}
          {keys > shown && (
            <button
              type="button"
              className="rounded-sm text-accent-text hover:underline"
              onClick={() => setShown(shown + partSize)}
            >
              Show {countText(Math.min(partSize, keys - shown))} of {countText(keys - shown)} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Line({ name, children }: { name: string | number | undefined; children: ReactNode }) {
  return (
    <div className={classes('break-words whitespace-pre-wrap', name !== undefined && 'pl-3')}>
      {name !== undefined && <Name name={name} />}
      {name !== undefined && ' '}
      {children}
    </div>
  )
}

function Name({ name }: { name: string | number }) {
  return <span className={typeof name === 'number' ? 'text-muted' : 'text-accent-text'}>{name}:</span>
}

function Leaf({ value, bare }: { value: unknown; bare: boolean }) {
  const [isWhole, setIsWhole] = useState(false)
  if (typeof value !== 'string') {
    return <span className={value === null ? 'text-muted' : 'text-warn-text'}>{String(value)}</span>
  }
  const isLong = value.length > textMax && !isWhole
  const text = isLong ? value.slice(0, textMax) : value
  // Text of several lines is shown unescaped.
  const isPlain = bare || text.includes('\n')
  return (
    <>
      <span className={bare ? 'text-text' : 'text-ok-text'}>{isPlain ? text : JSON.stringify(text)}</span>
      {isLong && (
        <button
          type="button"
          className="ml-1 rounded-sm text-accent-text hover:underline"
          onClick={() => setIsWhole(true)}
        >
          … show all {countText(value.length)} characters
        </button>
      )}
    </>
  )
}

/** Replaces a value in the log that was too large to store. */
type TruncatedValue = { truncated: true; size: number; preview: string }

function isTruncated(value: object): value is TruncatedValue {
  const { truncated, size, preview } = value as Partial<TruncatedValue>
  return truncated === true && typeof size === 'number' && typeof preview === 'string'
}

function Truncated({ name, value: { size, preview } }: { name: string | number | undefined; value: TruncatedValue }) {
  return (
    <Line name={name}>
      <span className="font-sans text-muted">Too large to store ({bytesText(size)}). Preview: </span>
      <Leaf value={preview} bare={false} />
    </Line>
  )
}

const partSize = 100
const textMax = 600
