import { indentService } from '@codemirror/language'

/**
 * Indents by brackets. The grammar of JavaScript would take the end of a reference such as `<loop.currentItem>` for a
 * comparison that continues on the next line.
 */
export const bracketIndent = indentService.of((context, position) => {
  const { doc } = context.state
  const line = doc.lineAt(position)
  const text = context.textAfterPos(position)
  for (let number = line.number - (position === line.from ? 1 : 0); number >= 1; number -= 1) {
    const before = doc.line(number)
    const written = before.text.slice(0, Math.max(0, position - before.from))
    if (written.trim() !== '') return Math.max(0, indentAfter(written, text, context.unit))
  }
  return 0
})

/** The columns of the line after `before`, when it begins with `after`. Tabs count as one column. */
export function indentAfter(before: string, after: string, unit: number): number {
  const columns = /^\s*/.exec(before)?.[0].length ?? 0
  const opens = /[{([]\s*(?:\/\/.*)?$/.test(before) || /=>\s*$/.test(before)
  const closes = /^\s*[})\]]/.test(after)
  return columns + (opens ? unit : 0) - (closes ? unit : 0)
}
