import { useQuery } from '@tanstack/react-query'
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { messageOf } from '../../api/message-of.ts'
import { countOf } from '../../parts/amount-text.ts'
import { classes } from '../../parts/class-names.ts'
import { clockText, dayText, momentText } from '../../parts/time-text.ts'
import type { Parameters } from './log-filter.ts'
import { type Histogram, histogramQuery } from './log-queries.ts'

type Bucket = Histogram['data'][number]

/** A histogram of runs. Clicking a bar or dragging over bars selects their time range. */
export function LogHistogram({
  parameters,
  bucketMs,
  onPick,
  onCount,
}: {
  parameters: Parameters
  bucketMs: number
  /** Epoch milliseconds; `to` is exclusive. */
  onPick: (from: number, to: number) => void
  onCount: (runs: number) => void
}) {
  const { data, error, isPending } = useQuery(histogramQuery(parameters))
  const all = data?.data.reduce((sum, bucket) => sum + countIn(bucket), 0) ?? 0
  useEffect(() => onCount(all), [all, onCount])
  if (error) {
    return (
      <p role="alert" className="flex h-22 items-center px-6 text-xs text-error-text">
        The run counts could not be loaded: {messageOf(error)}
      </p>
    )
  }
  if (isPending) return <div className="h-22" />
  return <Bars buckets={data.data} isComplete={data.isComplete} bucketMs={bucketMs} onPick={onPick} />
}

function Bars({
  buckets,
  isComplete,
  bucketMs,
  onPick,
}: {
  buckets: readonly Bucket[]
  isComplete: boolean
  bucketMs: number
  onPick: (from: number, to: number) => void
}) {
  const chart = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number>()
  const [begun, setBegun] = useState<number>()
  const most = Math.max(1, ...buckets.map(countIn))
  const bucketAt = ({ clientX }: PointerEvent) => {
    const { left, width } = chart.current!.getBoundingClientRect()
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((clientX - left) / width) * buckets.length)))
  }
  const pick = () => {
    if (at === undefined || begun === undefined) return
    setBegun(undefined)
    const [first, last] = [buckets[Math.min(at, begun)]!, buckets[Math.max(at, begun)]!]
    onPick(Date.parse(first.at), Date.parse(last.at) + bucketMs)
  }
  const isChosen = (index: number) =>
    begun !== undefined && at !== undefined && index >= Math.min(at, begun) && index <= Math.max(at, begun)
  const all = buckets.reduce((sum, bucket) => sum + countIn(bucket), 0)
  const failed = buckets.reduce((sum, { error }) => sum + error, 0)
  const cancelled = buckets.reduce((sum, bucket) => sum + bucket.cancelled, 0)
  const pointed = at === undefined ? undefined : buckets[at]
  return (
    <figure className="px-4 pt-3 pb-1 md:px-6">
      <figcaption className="flex h-5 items-center gap-3 text-xs text-muted tabular-nums">
        {pointed ? (
          <>
            <span className="text-text">{spanText(Date.parse(pointed.at), bucketMs)}</span>
            <span>{countOf(countIn(pointed), 'run')}</span>
            {pointed.error > 0 && <span className="text-error-text">{pointed.error} failed</span>}
            {pointed.cancelled > 0 && <span>{pointed.cancelled} cancelled</span>}
          </>
        ) : (
          <>
            <span>
              {isComplete ? countOf(all, 'run') : `More than ${countOf(all, 'run')}; the oldest are not counted`}
            </span>
            {failed > 0 && <span className="text-error-text">{failed} failed</span>}
            {cancelled > 0 && <span>{cancelled} cancelled</span>}
          </>
        )}
      </figcaption>
      <div
        ref={chart}
        className="flex h-12 touch-none items-end border-b border-line"
        onPointerMove={(event) => setAt(bucketAt(event))}
        onPointerLeave={() => begun === undefined && setAt(undefined)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setAt(bucketAt(event))
          setBegun(bucketAt(event))
        }}
        onPointerUp={pick}
        onPointerCancel={() => setBegun(undefined)}
      >
        {buckets.map(({ at: time, success, error, cancelled: stopped }, index) => (
          <div
            key={time}
            className={classes(
              'flex h-full min-w-0 flex-1 flex-col justify-end px-px',
              (isChosen(index) || (begun === undefined && at === index)) && 'bg-hover',
            )}
          >
            <div className="rounded-t-[1px] bg-error" style={{ height: heightOf(error, most) }} />
            <div className="bg-line-strong" style={{ height: heightOf(stopped, most) }} />
            <div
              className={classes('bg-accent opacity-70', error + stopped === 0 && 'rounded-t-[1px]')}
              style={{ height: heightOf(success, most) }}
            />
          </div>
        ))}
      </div>
      <div className="relative mt-0.5 h-4 text-2xs text-muted tabular-nums" aria-hidden="true">
        {ticksOf(buckets, bucketMs).map(({ text, share }) => (
          <span key={share} className="absolute" style={{ left: `${share * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
    </figure>
  )
}

function countIn({ success, error, cancelled }: Bucket): number {
  return success + error + cancelled
}

/** Keeps a single failure visible next to thousands of runs. */
function heightOf(count: number, most: number): string {
  return count === 0 ? '0' : `max(2px, ${(count / most) * 100}%)`
}

function spanText(from: number, bucketMs: number): string {
  if (bucketMs >= 86_400_000) return dayText(from)
  return `${momentText(from)} – ${clockText(from + bucketMs)}`
}

/** Labels for some bucket starts; `share` is the position as a fraction of the width. */
function ticksOf(buckets: readonly Bucket[], bucketMs: number): { text: string; share: number }[] {
  const count = buckets.length
  const step = Math.max(1, Math.ceil(count / ticksMax))
  const say = bucketMs * count > 2 * 86_400_000 ? dayText : clockText
  return buckets
    .map(({ at }, index) => ({ text: say(Date.parse(at)), share: index / count }))
    .filter(({ share }, index) => index % step === 0 && share < 0.92)
}

const ticksMax = 5
