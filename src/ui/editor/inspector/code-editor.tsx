import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { javascriptLanguage } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { linter } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { Decoration, EditorView, keymap, lineNumbers, MatchDecorator, placeholder, ViewPlugin } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { classes } from '../../parts/class-names.ts'
import type { LastField } from '../values/last-field.ts'
import { bracketIndent } from './code/bracket-indent.ts'
import { type Failure, failureMark, markFailure } from './code/failure-mark.ts'
import { faults } from './code/faults.ts'
import { openReference, type Suggestion } from './suggestions.ts'

type Props = {
  language: 'javascript' | 'json'
  label: string
  text: string
  onChange: (text: string) => void
  readOnly: boolean
  suggestions: readonly Suggestion[]
  describedBy: string | undefined
  /** The line of the code where the shown pass failed, counted from 1. */
  failure?: Failure | undefined
  /** Told when the editor is focused. */
  lastField?: LastField | undefined
  /** Fills the height of its container. */
  isTall?: boolean
}

/**
 * The CodeMirror editor. It lives in a shadow root, where its styles are style sheets. In the page they would be inline
 * styles, which the page's policy forbids.
 */
export function CodeEditor(props: Props) {
  const { language, label, text, onChange, readOnly, suggestions, describedBy, failure, lastField, isTall } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef({ onChange, suggestions, lastField })
  latest.current = { onChange, suggestions, lastField }
  // biome-ignore lint/correctness/useExhaustiveDependencies: created once; the effects below update it
  useEffect(() => {
    const element = host.current
    if (!element) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          closeBrackets(),
          indentOnInput(),
          indentUnit.of('  '),
          language === 'json' ? json() : javascriptLanguage,
          syntaxHighlighting(colours),
          references,
          autocompletion({ override: [(context) => complete(context, latest.current.suggestions)], icons: false }),
          linter((editor) => faults(editor.state.doc.toString(), language), { delay: 300 }),
          EditorView.lineWrapping,
          EditorView.domEventHandlers({
            beforeinput: replaceSelected,
            focus: (_event, editor) => {
              if (!editor.state.readOnly)
                latest.current.lastField?.focused(editor, (found) => insertText(editor, found))
            },
          }),
          failureMark,
          language === 'javascript' ? bracketIndent : [],
          EditorView.contentAttributes.of({
            'aria-label': label,
            ...(describedBy ? { 'aria-describedby': describedBy } : {}),
          }),
          placeholder(language === 'json' ? '{ }' : 'return …'),
          // Tab indents. Escape closes the completion list first; pressed again, it returns to the canvas (see the
          // inspector).
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...editing, ...historyKeymap, indentWithTab]),
          look,
          isTall ? tallLook : [],
          writable.of(EditorState.readOnly.of(readOnly)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('load')))
              latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => {
      latest.current.lastField?.gone(made)
      made.destroy()
    }
  }, [])
  useEffect(() => {
    const made = view.current
    if (!made || made.state.doc.toString() === text) return
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: text }, userEvent: 'load' })
  }, [text])
  const { line, message } = failure ?? {}
  useEffect(() => {
    const shown = line === undefined || message === undefined ? undefined : { line, message }
    if (view.current) markFailure(view.current, shown)
  }, [line, message])
  return (
    <div
      ref={host}
      data-code
      className={classes(
        'overflow-hidden rounded-md border border-line-strong bg-surface shadow-sm focus-within:border-accent',
        isTall && 'min-h-0 flex-1',
      )}
    />
  )
}

// CodeMirror inserts a line on Mod+Enter. In the editor this shortcut runs the workflow.
const editing = defaultKeymap.filter(({ key }) => key !== 'Mod-Enter')

const writable = new Compartment()

/**
 * Handles typing over a selection, and pasting several lines at once. The browser would keep the style of the replaced
 * text as an inline style, which the page's policy forbids.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const { from, to } = view.state.selection.main
  const { data } = event
  if (event.inputType !== 'insertText' || data === null || view.composing || view.state.readOnly) return false
  if (from === to && !data.includes('\n')) return false
  event.preventDefault()
  const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' })
  // Brackets may be put around the selection.
  const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
  if (!isHandled) view.dispatch(insert())
  return true
}

const references = ViewPlugin.define(
  (view) => {
    const matcher = new MatchDecorator({
      regexp: /<[A-Za-z][\w $-]*(?:[.[][^<>\n]*)?>|\{\{[A-Za-z_]\w*\}\}/g,
      decoration: Decoration.mark({ class: 'cm-reference' }),
    })
    return {
      decorations: matcher.createDeco(view),
      update(update) {
        this.decorations = matcher.updateDeco(update, this.decorations)
      },
    }
  },
  { decorations: (plugin) => plugin.decorations },
)

function complete(context: CompletionContext, suggestions: readonly Suggestion[]): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos)
  const open = openReference(line.text.slice(0, context.pos - line.from))
  if (!open) return null
  const mark = open.kind === 'block' ? '<' : '{{'
  return {
    from: line.from + open.start,
    options: suggestions
      .filter(({ text }) => text.startsWith(mark))
      .map(({ text, from, sample, isAlias }, index) => ({
        label: text,
        detail: from,
        // Keeps the order of the suggestions among equally good matches.
        boost: isAlias ? -99 : Math.max(-98, 99 - index),
        ...(sample === undefined ? {} : { info: sample }),
      })),
    validFor: /^(<[\w.[\]"$-]*|\{\{\w*)$/,
  }
}

function insertText(view: EditorView, text: string): void {
  view.dispatch(view.state.replaceSelection(text), { userEvent: 'input.paste' })
  view.focus()
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'var(--model)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--logic)' },
  { tag: [tags.propertyName], color: 'var(--call)' },
  { tag: [tags.comment], color: 'var(--muted)' },
])

const look = EditorView.theme({
  '&': { fontSize: '12px', backgroundColor: 'transparent', color: 'var(--text)', maxHeight: '380px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '6px 0', minHeight: '72px', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 6px 0 8px', minWidth: '24px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-reference': { backgroundColor: 'var(--accent-soft)', borderRadius: '3px' },
  '.cm-reference, .cm-reference *': { color: 'var(--accent-text) !important' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow-popup)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', fontSize: '12px', maxHeight: '220px' },
  '.cm-tooltip-autocomplete ul li': { padding: '3px 8px !important' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft) !important',
    color: 'var(--accent-text) !important',
  },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '10px' },
  '.cm-tooltip.cm-completionInfo': {
    padding: '4px 8px',
    fontFamily: 'var(--font-mono)',
    fontSize: '11px',
    maxWidth: '260px',
  },
  '.cm-diagnostic': { padding: '4px 8px', fontSize: '12px' },
  '.cm-failed-line': {
    backgroundColor: 'color-mix(in srgb, var(--error-soft) 45%, transparent)',
    boxShadow: 'inset 3px 0 var(--error)',
  },
  '.cm-failure': {
    padding: '2px 10px 4px',
    fontFamily: 'var(--font-sans)',
    backgroundColor: 'var(--error-soft)',
    color: 'var(--error-text)',
    whiteSpace: 'pre-wrap',
  },
})

const tallLook = EditorView.theme({ '&': { height: '100%', maxHeight: 'none', fontSize: '13px' } })
