import { Popover as BasePopover } from '@base-ui/react/popover'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './class-names.ts'

/** A small popup at the button that opens it. */
export function Popover({
  trigger,
  label,
  children,
  align = 'start',
  side = 'bottom',
  className,
  open,
  onOpenChange,
}: {
  trigger: ReactElement
  /** The accessible name of the popup. */
  label?: string
  children: ReactNode
  align?: 'start' | 'center' | 'end'
  side?: 'top' | 'bottom' | 'left' | 'right'
  className?: string
  open?: boolean
  onOpenChange?: (open: boolean) => void
}) {
  const controlled = {
    ...(open === undefined ? {} : { open }),
    ...(onOpenChange ? { onOpenChange } : {}),
  }
  return (
    <BasePopover.Root {...controlled}>
      <BasePopover.Trigger render={trigger} />
      <BasePopover.Portal>
        <BasePopover.Positioner className="z-50" sideOffset={6} align={align} side={side}>
          <BasePopover.Popup
            aria-label={label}
            className={classes(
              'popup max-h-(--available-height) w-80 max-w-[calc(100vw-24px)] overflow-y-auto',
              className,
            )}
          >
            {children}
          </BasePopover.Popup>
        </BasePopover.Positioner>
      </BasePopover.Portal>
    </BasePopover.Root>
  )
}
