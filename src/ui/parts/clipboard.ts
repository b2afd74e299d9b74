/** Copies text. Returns false when the browser blocks it. `navigator.clipboard` does not exist on plain HTTP. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Blocked, or the page has lost the focus. The fallback below may still work.
  }
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // A dialog traps the focus, so the field must be inside it.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  const before = document.activeElement
  place.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
