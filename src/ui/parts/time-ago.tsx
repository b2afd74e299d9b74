import { useEffect, useState } from 'react'
import { Hint } from './hint.tsx'
import { agoText, exactText } from './time-text.ts'

/** A relative time. The tooltip shows the exact time. */
export function TimeAgo({ at, className }: { at: string | number; className?: string }) {
  const time = typeof at === 'number' ? at : Date.parse(at)
  const now = useNow(Math.abs(Date.now() - time) < 60_000 ? 5_000 : 30_000)
  return (
    <Hint text={exactText(time)} side="top">
      <time dateTime={new Date(time).toISOString()} className={className ?? 'whitespace-nowrap'}>
        {agoText(time, now)}
      </time>
    </Hint>
  )
}

/** The current time, updated periodically while the page is visible. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now())
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
