/** A text as the search compares it: without the difference between upper and lower case. */
export function searchable(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
