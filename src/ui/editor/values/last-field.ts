import { createContext, useContext } from 'react'

/** Inserts text at the caret of a field, in place of the selection, and focuses the field. */
export type Insert = (text: string) => void

/** The field of the inspector that was focused last. A button elsewhere can insert a reference into it. */
export class LastField {
  #insert: Insert | undefined
  #owner: object | undefined

  /** `owner` identifies the field, so that it can withdraw. */
  focused(owner: object, insert: Insert): void {
    this.#owner = owner
    this.#insert = insert
  }

  gone(owner: object): void {
    if (this.#owner !== owner) return
    this.#owner = undefined
    this.#insert = undefined
  }

  /** False when no field was focused yet. */
  insert(text: string): boolean {
    this.#insert?.(text)
    return this.#insert !== undefined
  }
}

export const LastFieldContext = createContext<LastField | undefined>(undefined)

export function useLastField(): LastField | undefined {
  return useContext(LastFieldContext)
}

/** Inserts text into a text field as if it were typed, so that the browser can undo it. */
export function insertInto(field: HTMLTextAreaElement | HTMLInputElement, text: string): void {
  field.focus()
  if (!document.execCommand('insertText', false, text)) {
    const { selectionStart, selectionEnd, value } = field
    field.setRangeText(text, selectionStart ?? value.length, selectionEnd ?? value.length, 'end')
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}
