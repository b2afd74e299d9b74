import { messageOf } from '../../domain/errors.ts'
import { documentTooLarge, invalidDocument } from '../format-error.ts'
import type { Operation } from '../job.ts'
import { wholeBytesMax } from '../limits.ts'
import { countOption } from '../options.ts'
import { wholeText } from '../source.ts'
import { isAboutSize, textAnswer, valueIn } from './xml.ts'

/** Reads YAML. Several documents are a list. */
export const parseYaml: Operation = (job) => {
  const text = wholeText(job.input, wholeBytesMax)
  if (linesIn(text) > linesMax) throw documentTooLarge(`The YAML has more than ${linesMax} lines.`)
  let value: unknown
  try {
    value = Bun.YAML.parse(text)
  } catch (error) {
    if (isAboutSize(error)) throw error
    throw invalidDocument(messageOf(error).replace(/^YAML Parse error: /, 'The YAML is broken: '))
  }
  return job.data(value)
}

/** Each line may be a value, and the parser needs 400 bytes for it. */
function linesIn(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

const linesMax = 300_000

export const writeYaml: Operation = (job) => {
  const text = Bun.YAML.stringify(valueIn(job), null, countOption(job.options, 'indent') ?? 2)
  return textAnswer(job, text.endsWith('\n') ? text : `${text}\n`)
}
