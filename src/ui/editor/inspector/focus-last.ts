/** After a row was added to a list: the focus goes into it. */
export function focusLastRow(button: HTMLElement): void {
  const list = button.closest('fieldset')
  requestAnimationFrame(() => {
    const row = [...(list?.querySelectorAll('[data-row]') ?? [])].at(-1)
    const field = row?.querySelector<HTMLElement>('input, textarea, select')
    field?.focus()
    // A name that was made up is to be typed over.
    if (field instanceof HTMLInputElement) field.select()
  })
}
