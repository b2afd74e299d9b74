import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'
import { Keys } from './keys.tsx'

/** A tooltip for an element that is hovered or focused. */
export function Hint({
  text,
  keys,
  side = 'bottom',
  children,
}: {
  text: string
  keys?: string
  side?: 'top' | 'bottom' | 'left' | 'right'
  children: ReactElement
}) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger delay={450} render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} side={side} className="z-60">
          <Tooltip.Popup className="popup flex max-w-72 items-center gap-2 rounded-md px-2 py-1 text-xs">
            {text}
            {keys && <Keys text={keys} />}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
