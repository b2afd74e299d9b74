import { estimateSize } from '../domain/estimate-size.ts'
import { limitSettings } from '../domain/limits.ts'
import { asText } from '../domain/workflow/reference.ts'
import { BlockError } from './block.ts'
import type { RunValues } from './run/frame.ts'

/**
 * The text of a value in a template. The JSON of an object is counted before it is written: a template may contain the
 * same large object a thousand times. Texts need no count here: they are joined without a copy. Throws `BlockError`.
 */
export function filledText(value: unknown, run: RunValues): string {
  if (typeof value !== 'object' || value === null) return asText(value)
  const max = run.blockBytesMax
  const estimated = estimateSize(value, max - run.filledChars)
  if (run.filledChars + estimated > max) throw tooLarge('parameters', max)
  const text = asText(value)
  run.filledChars += text.length
  return text
}

/** The error for the parameters, or the outputs, of a block that are too large. */
export function blockSizeError(what: 'parameters' | 'outputs', bytes: number, max: number): BlockError | undefined {
  return bytes > max ? tooLarge(what, max) : undefined
}

function tooLarge(what: 'parameters' | 'outputs', max: number): BlockError {
  const setting = limitSettings.blockBytesMax
  const message = `The ${what} of the block hold more than ${max} bytes, the most that ${setting} allows.`
  return new BlockError('VALUE_TOO_LARGE', message)
}
