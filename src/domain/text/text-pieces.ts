/** A text in pieces of about this many characters. No piece ends between the halves of a surrogate pair. */
export function* textPieces(text: string, chars: number): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const to = Math.min(from + chars, text.length)
    const isPairCut = to < text.length && (text.codePointAt(to - 1) as number) > 0xffff
    yield text.slice(from, isPairCut ? to + 1 : to)
    from = isPairCut ? to + 1 : to
  }
}
