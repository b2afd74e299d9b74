import { type EditorState, type Range, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view'

/**
 * Selects a match in a code editor and marks it, because a selection is only visible in an editor with the focus. In an
 * editor for JSON, the searched text is part of a larger text, and may be escaped.
 */
export function markInCode(
  element: HTMLElement,
  searched: string,
  match: { from: number; to: number },
  focus: boolean,
): void {
  const view = EditorView.findFromDOM(element)
  if (!view) return
  const { from, to } = placeIn(view.state, searched, match)
  const effects: StateEffect<unknown>[] = [setMark.of({ from, to }), EditorView.scrollIntoView(from, { y: 'center' })]
  if (view.state.field(mark, false) === undefined) effects.unshift(StateEffect.appendConfig.of([mark, look]))
  view.dispatch({ effects })
  // The field that was just added did not see the effect.
  view.dispatch({ selection: { anchor: from, head: to }, effects: setMark.of({ from, to }) })
  const host = element.getRootNode()
  if (host instanceof ShadowRoot) host.host.scrollIntoView({ block: 'nearest' })
  if (focus) view.focus()
}

function placeIn(state: EditorState, searched: string, { from, to }: { from: number; to: number }) {
  const text = state.doc.toString()
  if (text === searched) return { from, to }
  const wanted = searched.slice(from, to)
  const written = JSON.stringify(searched).slice(1, -1)
  const before = JSON.stringify(searched.slice(0, from)).slice(1, -1).length
  const whole = text.indexOf(written)
  const shown = JSON.stringify(wanted).slice(1, -1)
  const start = whole === -1 ? text.toLowerCase().indexOf(shown.toLowerCase()) : whole + before
  return start === -1 ? { from: 0, to: 0 } : { from: start, to: Math.min(start + shown.length, text.length) }
}

const setMark = StateEffect.define<{ from: number; to: number }>()

/** The mark stays until the next edit. */
const mark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { docChanged, effects }) {
    const set = effects.find((effect) => effect.is(setMark))
    if (!set) return docChanged ? Decoration.none : marks
    const ranges: Range<Decoration>[] = set.value.to > set.value.from ? [found.range(set.value.from, set.value.to)] : []
    return Decoration.set(ranges)
  },
  provide: (field) => EditorView.decorations.from(field),
})

const found = Decoration.mark({ class: 'cm-found' })

const look = EditorView.theme({ '.cm-found': { backgroundColor: 'var(--found)', borderRadius: '2px' } })
