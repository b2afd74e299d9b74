import { messageOf } from '../domain/errors.ts'
import { FormatError } from './format-error.ts'
import { Job } from './job.ts'
import { operations } from './operations.ts'
import type { FormatAnswer, FormatJob } from './wire.ts'

/** A worker for documents: does one job after the other. It may be terminated at any moment, and keeps nothing. */
declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<FormatJob>) => self.postMessage(await answer(data))

async function answer(given: FormatJob): Promise<FormatAnswer> {
  const job = new Job(given)
  try {
    const operation = await operations[given.operation]()
    return await operation(job)
  } catch (error) {
    return failureOf(error)
  } finally {
    job.close()
  }
}

function failureOf(error: unknown): FormatAnswer {
  if (error instanceof FormatError) return { ok: false, code: error.code, message: error.message }
  if (error instanceof RangeError && /call stack/.test(error.message)) {
    return { ok: false, code: 'DOCUMENT_TOO_LARGE', message: 'The document is nested too deeply.' }
  }
  if (/out of memory/i.test(messageOf(error))) {
    return { ok: false, code: 'MEMORY_EXCEEDED', message: 'The document needs too much memory.' }
  }
  return { ok: false, code: 'FORMAT_FAILED', message: `The document could not be read or written: ${messageOf(error)}` }
}
