/** Writes epoch milliseconds as ISO 8601 does, in UTC; what is no time becomes an empty text. */
export type IsoTime = (epochMs: number) => string

/** `Date.prototype.toISOString`, faster for times of one second, as those of a run and its neighbours mostly are. */
export function createIsoTime(): IsoTime {
  let second = Number.NaN
  let prefix = ''
  return (epochMs) => {
    const whole = Math.floor(epochMs / 1000)
    if (whole !== second) {
      const date = new Date(whole * 1000)
      if (Number.isNaN(date.getTime())) return ''
      second = whole
      prefix = date.toISOString().slice(0, -4)
    }
    const ms = Math.floor(epochMs - whole * 1000)
    return `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
  }
}
