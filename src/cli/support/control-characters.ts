/**
 * Writes control characters as `\u…`, because texts of workflows and services could change the title of a terminal,
 * clear it, or overwrite what stands there. Line breaks and tabs stay.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** JSON for a terminal or a file. `JSON.stringify` leaves the second set of control characters as it is. */
export function printableJson(value: unknown, indent?: number): string {
  return escapeControls(JSON.stringify(value, null, indent) ?? 'null')
}

const controls = /(?![\t\n\r])\p{Cc}|\r(?!\n)/gu
