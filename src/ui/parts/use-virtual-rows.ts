import { type RefObject, useCallback, useLayoutEffect, useState } from 'react'

/** Extra rows above and below the visible ones, so that scrolling shows no gaps. */
const overscan = 12

/**
 * Which rows of a long list to draw: the visible ones and a few around them. All rows have the same height. `scrollTo`
 * brings a row into view with the least scrolling.
 */
export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  { count, rowHeight, headHeight = 0 }: { count: number; rowHeight: number; headHeight?: number },
): { from: number; to: number; height: number; scrollTo: (index: number) => void } {
  const [seen, setSeen] = useState({ from: 0, to: 40 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const measure = () => {
      const first = Math.floor((element.scrollTop - headHeight) / rowHeight)
      const shown = Math.ceil(element.clientHeight / rowHeight)
      const from = Math.max(0, first - overscan)
      const to = Math.min(count, first + shown + overscan)
      setSeen((before) => (before.from === from && before.to === to ? before : { from, to }))
    }
    measure()
    element.addEventListener('scroll', measure, { passive: true })
    const sizes = new ResizeObserver(measure)
    sizes.observe(element)
    return () => {
      element.removeEventListener('scroll', measure)
      sizes.disconnect()
    }
  }, [scroller, count, rowHeight, headHeight])
  const scrollTo = useCallback(
    (index: number) => {
      const element = scroller.current
      if (!element) return
      const top = headHeight + index * rowHeight
      // The table head stays above the rows.
      if (top - headHeight < element.scrollTop) element.scrollTop = top - headHeight
      else if (top + rowHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + rowHeight - element.clientHeight
      }
    },
    [scroller, rowHeight, headHeight],
  )
  return { from: Math.min(seen.from, count), to: Math.min(seen.to, count), height: count * rowHeight, scrollTo }
}
