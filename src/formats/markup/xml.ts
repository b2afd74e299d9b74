import { messageOf } from '../../domain/errors.ts'
import { FormatError, invalidDocument } from '../format-error.ts'
import type { Job, Operation } from '../job.ts'
import { resultBytesMax, wholeBytesMax } from '../limits.ts'
import { countOption } from '../options.ts'
import { wholeText, wrongKind } from '../source.ts'

/**
 * Reads XML. The root is a member with its name; an element is its text, or an object with its attributes as `@name`,
 * its text as `#text`, and a list for each name that occurs several times. Entities of the document are expanded to a
 * limit, and never read from elsewhere.
 */
export const parseXml: Operation = (job) => {
  const text = wholeText(job.input, wholeBytesMax)
  let value: unknown
  try {
    value = Bun.XML.parse(text)
  } catch (error) {
    if (isAboutSize(error)) throw error
    throw invalidDocument(messageOf(error).replace(/^XML Parse error: /, 'The XML is broken: '))
  }
  return job.data(value)
}

/** Writes XML, from an object as `parseXml` returns it. */
export const writeXml: Operation = (job) => {
  const value = valueIn(job)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongKind('an object')
  let text: string | undefined
  try {
    text = Bun.XML.stringify(value, null, countOption(job.options, 'indent') ?? 2)
  } catch (error) {
    throw new FormatError('INVALID_PARAMETER', `The value cannot be written as XML: ${messageOf(error)}`)
  }
  return textAnswer(job, text ?? '')
}

/** The value of an input, which may also be JSON text. */
export function valueIn({ input }: Pick<Job, 'input'>): unknown {
  if (input.kind === 'value') return JSON.parse(input.json)
  if (input.kind === 'file') throw wrongKind('a value')
  try {
    return JSON.parse(input.text)
  } catch {
    return input.text
  }
}

export function textAnswer(job: Job, text: string) {
  if (text.length > resultBytesMax) {
    throw new FormatError('RESULT_TOO_LARGE', `The text has more than ${resultBytesMax} characters.`)
  }
  return job.data(text)
}

/** Whether the parser gave up for lack of memory or stack. */
export function isAboutSize(error: unknown): boolean {
  return error instanceof RangeError || /out of memory|call stack/i.test(messageOf(error))
}
