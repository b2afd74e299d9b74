/** Formats money, sizes and counts for people. */

/** US dollars, with more digits for small amounts: `$0`, `$0.00033`, `$1.20`, `$1,204`. */
export function costText(usd: number): string {
  if (usd === 0) return '$0'
  if (usd < 0.000_001) return '< $0.000001'
  if (usd < 0.1) return `$${Number(usd.toPrecision(2)).toFixed(decimalsOf(usd))}`
  if (usd < 1_000) return `$${usd.toFixed(2)}`
  return `$${countText(Math.round(usd))}`
}

function decimalsOf(small: number): number {
  return Math.min(7, 1 - Math.floor(Math.log10(small)))
}

/** `512 bytes`, `1.2 KB`, `340 MB`. 1 KB is 1,024 bytes. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  let value = bytes
  for (const unit of ['KB', 'MB', 'GB', 'TB', 'PB']) {
    value /= 1_024
    if (value < 1_023.5 || unit === 'PB')
      return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`
  }
  return ''
}

/** `12,345`. */
export function countText(count: number): string {
  return countFormat.format(count)
}

/** `980`, `1.2k`, `34k`, `5.1M`. */
export function shortCount(count: number): string {
  return shortFormat.format(count)
}

/** `1 run`, `2 runs`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}

const countFormat = new Intl.NumberFormat('en-US')
const shortFormat = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
