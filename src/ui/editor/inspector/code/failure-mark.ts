import { StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'

/** The line where the code failed, counted from 1, and the error. */
export type Failure = { line: number; message: string }

const setFailure = StateEffect.define<Failure | undefined>()

/** Marks the line where the code failed, with the error below it. The mark follows its line while the code changes. */
export const failureMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setFailure)) continue
      if (!effect.value) return Decoration.none
      const { line, message } = effect.value
      const { doc } = transaction.state
      const at = doc.line(Math.min(line, doc.lines))
      const widget = Decoration.widget({
        widget: new ErrorBelow(message),
        side: 1,
        block: true,
      })
      return Decoration.set([Decoration.line({ class: 'cm-failed-line' }).range(at.from), widget.range(at.to)])
    }
    return marks.map(transaction.changes)
  },
  provide: (field) => EditorView.decorations.from(field),
})

/** Shows the mark, or removes it. It is scrolled into view, except when its line is marked already. */
export function markFailure(view: EditorView, failure: Failure | undefined): void {
  const { doc } = view.state
  const at = failure && doc.line(Math.min(failure.line, doc.lines)).from
  const isMarked = at === view.state.field(failureMark).iter().from
  const scroll = at === undefined || isMarked ? [] : [EditorView.scrollIntoView(at, { y: 'nearest', yMargin: 48 })]
  view.dispatch({ effects: [setFailure.of(failure), ...scroll] })
}

class ErrorBelow extends WidgetType {
  readonly #message: string

  constructor(message: string) {
    super()
    this.#message = message
  }

  override eq(other: ErrorBelow): boolean {
    return other.#message === this.#message
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('div')
    element.className = 'cm-failure'
    element.setAttribute('role', 'alert')
    element.textContent = this.#message
    return element
  }
}
