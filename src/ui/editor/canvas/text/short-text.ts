/** Text with its middle left out, at most `max` characters long. More remains of the end, which tells more. */
export function middleCut(text: string, max: number): string {
  if (text.length <= max) return text
  const head = Math.floor((max - 1) * 0.4)
  return `${text.slice(0, head)}…${text.slice(text.length - (max - 1 - head))}`
}

/** A URL without its scheme, with the end of its path. */
export function shortUrl(url: string, max: number): string {
  return url.length <= max ? url : middleCut(url.replace(/^https?:\/\//, ''), max)
}

/** An expression with its comparison: long references keep their last step, as in `<…tier> === "gold"`. */
export function shortExpression(text: string, max: number): string {
  if (text.length <= max) return text
  const short = text.replaceAll(/<[^<>\s][^<>\n]*?([^<>.[\]]+)>/g, (whole, last: string) =>
    whole.length > last.length + 4 ? `<…${last}>` : whole,
  )
  return middleCut(short, max)
}
