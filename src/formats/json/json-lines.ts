import { findJsonExcess } from '../../domain/text/json.ts'
import { FormatError, invalidDocument } from '../format-error.ts'
import { cellCharsMax, depthMax, resultValuesMax } from '../limits.ts'
import { textPiecesOf } from '../source.ts'
import type { FormatJob } from '../wire.ts'

/** The lines of JSON Lines that are not blank. Each is checked: it is JSON, and neither too long nor too deep. */
export function* jsonLinesOf(input: FormatJob['input']): Generator<Line, void> {
  let number = 0
  for (const line of linesOf(input)) {
    number += 1
    const text = line.trim()
    if (text === '') continue
    const excess = findJsonExcess(text, depthMax, resultValuesMax)
    if (excess) {
      const problem = excess === 'depth' ? `is nested deeper than ${depthMax} levels` : 'has too many values'
      throw new FormatError('DOCUMENT_TOO_LARGE', `Line ${number} ${problem}.`)
    }
    yield { text, value: parsedLine(text, number) }
  }
}

/** `text`: the JSON text of the value. */
export type Line = { text: string; value: unknown }

function parsedLine(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidDocument(`Line ${number} is not JSON: ${text.slice(0, shownChars)}`)
  }
}

function* linesOf(input: FormatJob['input']): Generator<string, void> {
  let rest: string[] = []
  let restChars = 0
  let number = 1
  for (const piece of textPiecesOf(input)) {
    let from = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      yield rest.length === 0 ? piece.slice(from, end) : rest.join('') + piece.slice(from, end)
      number += 1
      rest = []
      restChars = 0
      from = end + 1
    }
    if (from === piece.length) continue
    rest.push(piece.slice(from))
    restChars += piece.length - from
    if (restChars > cellCharsMax) {
      throw new FormatError('DOCUMENT_TOO_LARGE', `Line ${number} has more than ${cellCharsMax} characters.`)
    }
  }
  if (rest.length > 0) yield rest.join('')
}

const shownChars = 80
