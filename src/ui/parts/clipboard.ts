/** Copies a text; false when the browser does not let it. `navigator.clipboard` is not there on plain HTTP. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused, or the page has lost the focus: the older way may still do.
  }
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // In a dialog only what is inside it can have the focus.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  const before = document.activeElement
  place.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
