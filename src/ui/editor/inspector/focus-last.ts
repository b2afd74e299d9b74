/** Focuses the row that was just added to a list. */
export function focusLastRow(button: HTMLElement): void {
  const list = button.closest('fieldset')
  requestAnimationFrame(() => {
    const row = [...(list?.querySelectorAll('[data-row]') ?? [])].at(-1)
    const field = row?.querySelector<HTMLElement>('input, textarea, select')
    field?.focus()
    // Select a generated name, so that typing replaces it.
    if (field instanceof HTMLInputElement) field.select()
  })
}
