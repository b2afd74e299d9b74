/** Writes epoch milliseconds as an ISO 8601 time in UTC; an invalid time becomes an empty string. */
export type IsoTime = (epochMs: number) => string

/**
 * Like `Date.prototype.toISOString`, but faster for the time that it wrote last and for times within the same second,
 * which the times of one run usually are.
 */
export function createIsoTime(): IsoTime {
  let second = Number.NaN
  let prefix = ''
  let latest = Number.NaN
  let text = ''
  return (epochMs) => {
    if (epochMs === latest) return text
    const whole = Math.floor(epochMs / 1000)
    if (whole !== second) {
      const date = new Date(whole * 1000)
      if (Number.isNaN(date.getTime())) return ''
      second = whole
      prefix = date.toISOString().slice(0, -4)
    }
    const ms = Math.floor(epochMs - whole * 1000)
    latest = epochMs
    text = `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
    return text
  }
}

/** An unescaped `+` arrives as a space. A space in that position has no other meaning. */
const timePattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+\- ])(\d\d):(\d\d))?)?$/

/** Epoch milliseconds of an RFC 3339 time (UTC when it has no zone), or of the first instant of a date. */
export function readTime(text: string): number | undefined {
  const match = timePattern.exec(text)
  if (!match) return undefined
  const part = (index: number) => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const date = new Date(Date.UTC(year, month - 1, day))
  if (year < 1000 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  if (hour > 23 || minute > 59 || second > 59 || part(9) > 23 || part(10) > 59) return undefined
  const ms = Number(`${match[7] ?? ''}000`.slice(0, 3))
  const offsetMinutes = (part(9) * 60 + part(10)) * (match[8] === '-' ? -1 : 1)
  return date.getTime() + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + ms
}
