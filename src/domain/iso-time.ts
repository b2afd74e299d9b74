/** Writes epoch milliseconds as ISO 8601 does, in UTC; what is no time becomes an empty text. */
export type IsoTime = (epochMs: number) => string

/**
 * `Date.prototype.toISOString`, faster for the time that was asked for last, and for times of one second: those of a run and
 * its neighbours mostly are.
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

/** A `+` that nobody escaped arrives as a space; nothing else can be meant by a space in that place. */
const timePattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+\- ])(\d\d):(\d\d))?)?$/

/** Epoch milliseconds of a time as RFC 3339 writes it, UTC when it names no zone, or of a date's first instant. */
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
