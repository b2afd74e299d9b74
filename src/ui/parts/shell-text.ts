/** Quotes text for a shell. Within single quotes, only the quote itself is special. */
export function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
