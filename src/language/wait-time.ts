/** The longest wait: 400 days. */
export const waitMsMax = 34_560_000_000

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const names: Readonly<Record<string, string>> = {
  ...{ ms: 'ms', millisecond: 'ms', s: 's', sec: 's', second: 's', m: 'm', min: 'm', minute: 'm' },
  ...{ h: 'h', hr: 'h', hour: 'h', d: 'd', day: 'd', w: 'w', week: 'w' },
}

/** `3 days` or `1 hour 30 minutes` in milliseconds; undefined when it is no duration. */
export function durationMs(text: string): number | undefined {
  let total = 0
  let rest = text.trim().toLowerCase()
  if (rest === '') return undefined
  while (rest !== '') {
    const part = /^(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s*,\s*|\s+and\s+|\s+|$)/.exec(rest)
    const word = part?.[2] ?? ''
    const unit = names[word] ?? names[word.replace(/s$/, '')]
    if (!part || unit === undefined) return undefined
    total += Number(part[1]) * (unit === 'ms' ? 1 : units[unit]!)
    rest = rest.slice(part[0].length)
  }
  return Math.round(total)
}

/**
 * A time in epoch milliseconds: ISO 8601 with an offset, or the local time of a time zone. Undefined for any other
 * text. A local time that a change of the clocks skips is as much later; one that occurs twice is the first one.
 */
export function timeOf(text: string, timezone: string): number | undefined {
  const written = text.trim()
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(written)
  if (!match) return undefined
  const [, day, time = '00:00', offset] = match
  const asUtc = Date.parse(`${day}T${time}${offset?.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2') ?? 'Z'}`)
  if (Number.isNaN(asUtc)) return undefined
  return offset === undefined ? inZone(asUtc, timezone) : asUtc
}

/** The time at which the clocks of a zone show what the clocks of UTC show at another time. */
function inZone(asUtc: number, timezone: string): number {
  const before = asUtc - offsetAt(asUtc - 86_400_000, timezone)
  if (before + offsetAt(before, timezone) === asUtc) return before
  const after = asUtc - offsetAt(asUtc + 86_400_000, timezone)
  return after + offsetAt(after, timezone) === asUtc ? after : before
}

/** How far the clocks of a zone are ahead of UTC at a time, in milliseconds. */
function offsetAt(time: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  } as Intl.DateTimeFormatOptions).formatToParts(time)
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return shown - Math.floor(time / 1_000) * 1_000
}
