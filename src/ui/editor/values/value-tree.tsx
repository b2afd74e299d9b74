import { ChevronRight, CornerDownLeft, GripVertical } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { useToast } from '../../parts/toast.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import { useLastField } from './last-field.ts'
import { pathStep, type ValueGroup } from './value-groups.ts'

/**
 * The values that a block can refer to, as a tree for each earlier block. A value is dragged into a field, or inserted
 * by its button into the field that was focused last.
 */
export function ValueTree({ groups }: { groups: readonly ValueGroup[] }) {
  if (groups.length === 0) return <p className="px-1 text-xs text-muted">No block before this one has values yet.</p>
  return (
    <ul aria-label="Values" className="flex flex-col gap-0.5 font-mono text-xs">
      {groups.map((group) => (
        <Group key={group.reference} group={group} />
      ))}
    </ul>
  )
}

function Group({ group }: { group: ValueGroup }) {
  const [isOpen, setIsOpen] = useState(group.isNear)
  const { label, type, members, note } = group
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex h-7 w-full cursor-default items-center gap-1.5 rounded-md px-1 text-left font-sans font-medium hover:bg-hover"
      >
        <Twisty isOpen={isOpen} />
        {type && <BlockIcon type={type} size="small" />}
        <span className="min-w-0 truncate">{label}</span>
        {note && <span className="ml-auto shrink-0 text-2xs font-normal text-muted">{note}</span>}
      </button>
      {isOpen && (
        <ul className="ml-3 border-l border-line pl-1">
          {members.map(({ name, path, value }) => (
            <ValueRow key={path} name={name} path={path} value={value} depth={0} />
          ))}
        </ul>
      )}
    </li>
  )
}

function ValueRow({ name, path, value, depth }: { name: string; path: string; value: unknown; depth: number }) {
  const [isOpen, setIsOpen] = useState(false)
  const [shown, setShown] = useState(partSize)
  const lastField = useLastField()
  const toast = useToast()
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  const reference = `<${path}>`
  const members = isBranch && isOpen ? Object.entries(value).slice(0, shown) : []
  const more = isBranch ? Object.keys(value).length - shown : 0
  const insert = () => {
    if (lastField?.insert(reference)) return
    toast.show({ text: 'Click into a field first, then insert the value.' })
  }
  return (
    <li>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keyboard has the button */}
      <div
        draggable
        title={reference}
        onDragStart={(event) => {
          event.dataTransfer.setData('text/plain', reference)
          event.dataTransfer.effectAllowed = 'copy'
        }}
        className="group/row flex h-6 cursor-grab items-center gap-1 rounded-md pr-1 hover:bg-hover"
      >
        <GripVertical
          size={11}
          aria-hidden="true"
          className="shrink-0 text-muted opacity-0 group-hover/row:opacity-100"
        />
        {isBranch ? (
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Collapse' : 'Expand'} ${reference}`}
            onClick={() => setIsOpen(!isOpen)}
            className="flex shrink-0 cursor-default items-center rounded-sm"
          >
            <Twisty isOpen={isOpen} />
          </button>
        ) : (
          <span className="w-3 shrink-0" />
        )}
        <span className="shrink-0 text-accent-text">{name}</span>
        <span className="min-w-0 flex-1 truncate text-muted">{shortValue(value)}</span>
        <IconButton
          label={`Insert ${reference}`}
          icon={<CornerDownLeft size={12} />}
          size="small"
          // Keep the focus and the caret in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={insert}
          className="size-5! opacity-0 group-hover/row:opacity-100 focus-visible:opacity-100 max-md:opacity-100"
        />
      </div>
      {members.length > 0 && (
        <Inner>
          {members.map(([key, member]) => {
            const step = Array.isArray(value) ? `[${key}]` : pathStep(key)
            return <ValueRow key={key} name={key} path={`${path}${step}`} value={member} depth={depth + 1} />
          })}
          {more > 0 && (
            <li>
              <button
                type="button"
                onClick={() => setShown(shown + partSize)}
                className="h-6 cursor-default rounded-md px-2 text-2xs text-muted hover:bg-hover"
              >
                {more} more
              </button>
            </li>
          )}
        </Inner>
      )}
    </li>
  )
}

function Inner({ children }: { children: ReactNode }) {
  return <ul className="ml-3.5 border-l border-line pl-1">{children}</ul>
}

const partSize = 50

function Twisty({ isOpen }: { isOpen: boolean }) {
  return (
    <ChevronRight
      size={12}
      aria-hidden="true"
      className={classes('shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
    />
  )
}

function shortValue(value: unknown): string {
  if (value === undefined) return 'no value'
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? 'item' : 'items'}`
  if (typeof value === 'object' && value !== null) return `{ ${Object.keys(value).slice(0, 3).join(', ')} }`
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
