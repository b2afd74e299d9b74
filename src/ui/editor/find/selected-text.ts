/** The selected text of the focused field or page, if it is short and in one line. */
export function selectedText(): string | undefined {
  let focused = document.activeElement
  let root: Document | ShadowRoot = document
  // The code editor lives in a shadow root, which knows its selection.
  while (focused?.shadowRoot) {
    root = focused.shadowRoot
    focused = root.activeElement
  }
  // Chromium's shadow roots have a selection of their own; the standard has none.
  const selection = 'getSelection' in root ? (root as Document).getSelection() : getSelection()
  const text =
    focused instanceof HTMLInputElement || focused instanceof HTMLTextAreaElement
      ? focused.value.slice(focused.selectionStart ?? 0, focused.selectionEnd ?? 0)
      : (selection?.toString() ?? '')
  return text.trim() === '' || text.length > 200 || text.includes('\n') ? undefined : text
}
