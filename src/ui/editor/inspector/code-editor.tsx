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
import { type Diagnostic, linter } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { Decoration, EditorView, keymap, lineNumbers, MatchDecorator, placeholder, ViewPlugin } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { openReference, type Suggestion } from './suggestions.ts'

type Props = {
  language: 'javascript' | 'json'
  label: string
  text: string
  onChange: (text: string) => void
  readOnly: boolean
  suggestions: readonly Suggestion[]
  describedBy: string | undefined
}

/**
 * The CodeMirror editor. It lives in a shadow root, where its styles are style sheets. In the page they would be inline
 * styles, which the page's policy forbids.
 */
export function CodeEditor({ language, label, text, onChange, readOnly, suggestions, describedBy }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef({ onChange, suggestions })
  latest.current = { onChange, suggestions }
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
          EditorView.domEventHandlers({ beforeinput: replaceLines }),
          EditorView.contentAttributes.of({
            'aria-label': label,
            ...(describedBy ? { 'aria-describedby': describedBy } : {}),
          }),
          placeholder(language === 'json' ? '{ }' : 'return …'),
          // Tab indents. Escape closes the completion list first; pressed again, it returns to the canvas (see the
          // inspector).
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...editing, ...historyKeymap, indentWithTab]),
          look,
          writable.of(EditorState.readOnly.of(readOnly)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('load')))
              latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const made = view.current
    if (!made || made.state.doc.toString() === text) return
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: text }, userEvent: 'load' })
  }, [text])
  return (
    <div
      ref={host}
      data-code
      className="overflow-hidden rounded-md border border-line-strong bg-surface shadow-sm focus-within:border-accent"
    />
  )
}

// CodeMirror inserts a line on Mod+Enter. In the editor this shortcut runs the workflow.
const editing = defaultKeymap.filter(({ key }) => key !== 'Mod-Enter')

const writable = new Compartment()

/**
 * Handles typing over several lines, and pasting several lines at once. The browser would keep the style of the first
 * line as an inline style, which the page's policy forbids.
 */
function replaceLines(event: InputEvent, view: EditorView): boolean {
  const { from, to } = view.state.selection.main
  const { doc, readOnly } = view.state
  if (event.inputType !== 'insertText' || event.data === null || view.composing || readOnly) return false
  if (doc.lineAt(from).number === doc.lineAt(to).number && !event.data.includes('\n')) return false
  event.preventDefault()
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type' })
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
      .map(({ text, from, sample }) => ({
        label: text,
        detail: from,
        ...(sample === undefined ? {} : { info: sample }),
      })),
    validFor: /^(<[\w.[\]"$-]*|\{\{\w*)$/,
  }
}

/** Syntax errors. A reference stands for a value, so it is replaced by a name of the same length. */
function faults(text: string, language: 'javascript' | 'json'): Diagnostic[] {
  if (text.trim() === '') return []
  const masked = text.replaceAll(/<[A-Za-z][^<>\n]*>|\{\{[A-Za-z_]\w*\}\}/g, (found) => mask(found, language))
  if (language === 'json') {
    try {
      JSON.parse(masked)
      return []
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const at = Number(/position (\d+)/.exec(message)?.[1] ?? masked.length)
      const from = Math.max(0, Math.min(at, text.length - 1))
      return [
        { from, to: Math.min(from + 1, text.length), severity: 'error', message: message.replace(/ in JSON.*/s, '') },
      ]
    }
  }
  const found: Diagnostic[] = []
  const prefix = 'async () => {\n'
  javascriptLanguage.parser.parse(`${prefix}${masked}\n}`).iterate({
    enter: ({ type, from, to }) => {
      if (!type.isError || found.length >= 5) return
      const start = Math.max(0, Math.min(from - prefix.length, text.length))
      found.push({
        from: start,
        to: Math.max(start, Math.min(to - prefix.length, text.length)),
        severity: 'error',
        message: 'This is not valid JavaScript.',
      })
    },
  })
  return found
}

/** Masks a reference. In a JSON string the mask is text; elsewhere it is a value. */
function mask(found: string, language: 'javascript' | 'json'): string {
  return language === 'json' ? '0'.padStart(found.length, ' ') : '_'.repeat(found.length)
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
})
