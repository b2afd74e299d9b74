/** Whether a number format shows a date or a time of the day. Elapsed times, such as [h]:mm, stay numbers. */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return builtIn.some(([from, to]) => id >= from && id <= to)
  if (/\[(h+|m+|s+)\]/i.test(code)) return false
  const marks = code.replace(/"[^"]*"|\[[^\]]*\]|\\.|_.|\*./g, '')
  return /[dmyhs]/i.test(marks) && !/general/i.test(marks)
}

/** The ids of formats that files do not describe. */
const builtIn = [
  [14, 22],
  [27, 36],
  [45, 45],
  [47, 47],
  [50, 58],
] as const

/** A date as ISO 8601 text. `serial`: days since the beginning of the calendar of the spreadsheet. */
export function dateText(serial: number, is1904: boolean): string | undefined {
  if (!(serial >= 0 && serial < serialMax)) return undefined
  if (serial < 1 && !is1904) return new Date(Math.round(serial * dayMs)).toISOString().slice(11, 19)
  // Spreadsheets believe that 1900 was a leap year.
  const days = is1904 ? serial + 1_462 : serial < 60 ? serial + 1 : serial
  const text = new Date(Math.round((days - epochDays) * daySeconds) * 1_000).toISOString()
  return Number.isInteger(serial) ? text.slice(0, 10) : text.slice(0, 19)
}

/** The serial number of 1 January 1970. */
const epochDays = 25_569
const daySeconds = 86_400
const dayMs = 86_400_000
/** The end of the year 9999. */
const serialMax = 2_958_466

/** The index of the column in a reference such as BC12. Undefined when it has none. */
export function columnOf(reference: string): number | undefined {
  let column = 0
  for (let at = 0; at < reference.length; at++) {
    const code = reference.charCodeAt(at)
    if (code < 65 || code > 90) return column === 0 ? undefined : column - 1
    column = column * 26 + code - 64
    if (column > 1_000_000) return column
  }
  return column === 0 ? undefined : column - 1
}

export function columnName(index: number): string {
  let name = ''
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name
  }
  return name
}

/** Spreadsheets write characters that XML cannot hold as _x0007_. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

export function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/_x[0-9A-Fa-f]{4}_/g, (found) => `_x005F${found}`)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it escapes control characters.
      .replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, (character) => {
        return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
      })
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  )
}
