/** Formats times and durations for people. */

/** `0.4 ms`, `12 ms`, `1.24 s`, `2 min 3 s`, `1 h 5 min`: at most three significant digits. */
export function durationText(ms: number): string {
  if (ms < 10) return `${trimmed(ms, 1)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${trimmed(ms / 1000, ms < 9_995 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(minutes / 60)
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}

function pair(many: number, unit: string, few: number, part: string): string {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${part}`
}

/** `now`, `12 s ago`, `5 min ago`, `3 h ago`, `4 d ago`, then the date. Future times likewise: `in 5 min`. */
export function agoText(at: number, now: number): string {
  const away = Math.abs(now - at)
  const say = (text: string) => (at > now ? `in ${text}` : `${text} ago`)
  if (away < 5_000) return 'now'
  if (away < 60_000) return say(`${Math.floor(away / 1_000)} s`)
  if (away < 3_600_000) return say(`${Math.floor(away / 60_000)} min`)
  if (away < 86_400_000) return say(`${Math.floor(away / 3_600_000)} h`)
  if (away < 30 * 86_400_000) return say(`${Math.floor(away / 86_400_000)} d`)
  return dateText(at)
}

/** `Nov 22, 2026`, in the reader's time zone and locale. */
export function dateText(at: number): string {
  return dateFormat.format(at)
}

/** `Nov 22, 14:03:21`, with the year if it is not the current one. */
export function momentText(at: number, now = Date.now()): string {
  return new Date(at).getFullYear() === new Date(now).getFullYear() ? momentFormat.format(at) : yearFormat.format(at)
}

/** To the millisecond, with the time zone. Used in tooltips. */
export function exactText(at: number): string {
  return exactFormat.format(at)
}

/** `14:03`. */
export function clockText(at: number): string {
  return clockFormat.format(at)
}

/** `Nov 22`. */
export function dayText(at: number): string {
  return dayFormat.format(at)
}

const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const day = { month: 'short', day: 'numeric' } as const
const dateFormat = new Intl.DateTimeFormat(undefined, { ...day, year: 'numeric' })
const momentFormat = new Intl.DateTimeFormat(undefined, { ...day, ...clock, second: '2-digit' })
const yearFormat = new Intl.DateTimeFormat(undefined, { ...day, year: 'numeric', ...clock })
const clockFormat = new Intl.DateTimeFormat(undefined, clock)
const dayFormat = new Intl.DateTimeFormat(undefined, day)
const exactFormat = new Intl.DateTimeFormat(undefined, {
  ...day,
  year: 'numeric',
  ...clock,
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
})
