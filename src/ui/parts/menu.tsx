import { ContextMenu as BaseContextMenu } from '@base-ui/react/context-menu'
import { Menu as BaseMenu } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './class-names.ts'
import { Keys } from './keys.tsx'

/** One entry of a menu; `separator` is a line between groups. */
export type MenuEntry =
  | {
      label: string
      icon?: ReactNode
      keys?: string
      danger?: boolean
      disabled?: boolean
      checked?: boolean
      note?: string
      onSelect: () => void
    }
  | 'separator'
  | { heading: string }

/** A menu opened by `trigger`, a button. */
export function Menu({
  trigger,
  entries,
  align = 'start',
  side = 'bottom',
}: {
  trigger: ReactElement
  entries: readonly MenuEntry[]
  align?: 'start' | 'center' | 'end'
  side?: 'top' | 'bottom' | 'right' | 'left'
}) {
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner className="z-50 outline-none" sideOffset={5} align={align} side={side}>
          <BaseMenu.Popup className={popupLook}>
            <Entries entries={entries} />
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}

/** A menu at a point of the page. It takes the focus and returns it. */
export function MenuAt({
  at,
  label,
  entries,
  onClose,
}: {
  at: { x: number; y: number }
  label: string
  entries: readonly MenuEntry[]
  onClose: () => void
}) {
  const anchor = { getBoundingClientRect: () => new DOMRect(at.x, at.y, 0, 0) }
  return (
    <BaseMenu.Root modal={false} open onOpenChange={(isOpen) => isOpen || onClose()}>
      <BaseMenu.Portal>
        <BaseMenu.Positioner
          className="z-50 outline-none"
          anchor={anchor}
          align="start"
          side="bottom"
          // A long menu moves up, so that all of it is in view.
          collisionAvoidance={{ side: 'shift', align: 'shift' }}
        >
          <BaseMenu.Popup className={popupLook} aria-label={label}>
            <Entries entries={entries} />
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}

/** A menu at the pointer, opened by a right click or long press on `children`. */
export function ContextMenu({ children, entries }: { children: ReactElement; entries: readonly MenuEntry[] }) {
  return (
    <BaseContextMenu.Root>
      <BaseContextMenu.Trigger render={children} />
      <BaseContextMenu.Portal>
        <BaseContextMenu.Positioner className="z-50 outline-none">
          <BaseContextMenu.Popup className={popupLook}>
            <Entries entries={entries} />
          </BaseContextMenu.Popup>
        </BaseContextMenu.Positioner>
      </BaseContextMenu.Portal>
    </BaseContextMenu.Root>
  )
}

const popupLook = 'popup max-h-(--available-height) min-w-44 overflow-y-auto p-1'

function Entries({ entries }: { entries: readonly MenuEntry[] }) {
  return entries.map((entry, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: separators are identified by position
    if (entry === 'separator') return <BaseMenu.Separator key={index} className="mx-1 my-1 h-px bg-line" />
    if ('heading' in entry) {
      return (
        <div key={entry.heading} className="px-2 pt-1.5 pb-1 text-2xs font-medium text-muted">
          {entry.heading}
        </div>
      )
    }
    const { label, icon, keys, danger, disabled, checked, note, onSelect } = entry
    return (
      <BaseMenu.Item
        key={label}
        disabled={disabled ?? false}
        onClick={onSelect}
        className={classes(
          'flex cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm outline-none select-none',
          'data-disabled:opacity-45 data-highlighted:bg-hover',
          danger && 'text-error-text',
        )}
      >
        {(icon !== undefined || checked !== undefined) && (
          <span className="flex size-4 shrink-0 items-center justify-center text-muted">
            {checked === undefined ? icon : checked && '✓'}
          </span>
        )}
        <span className="min-w-0 flex-1 truncate">{label}</span>
        {note && <span className="text-xs text-muted">{note}</span>}
        {keys && <Keys text={keys} />}
      </BaseMenu.Item>
    )
  })
}
