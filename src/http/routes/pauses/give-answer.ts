import { AppError } from '../../../domain/errors.ts'
import { type AnswerOutcome, type AskedPause, answerValues } from '../../../engine/jobs/pause-answers.ts'
import type { FormBody } from '../../requests/form-body.ts'
import type { PauseServices } from '../../run-services.ts'

/** `by`: the e-mail address of the account that answers; null for someone with the link. */
export type SentAnswer = Pick<FormBody, 'values' | 'upload'> & { approved: unknown; by: string | null }

/** Answers an approval. The files of the answer are stored first, and deleted if the answer has no effect. */
export async function giveAnswer(
  { answers }: Pick<PauseServices, 'answers'>,
  asked: AskedPause,
  { values, upload, by, ...sent }: SentAnswer,
): Promise<AnswerOutcome> {
  const approved = approvedIn(sent.approved)
  const given = answerValues(asked, { approved, fields: values })
  const input = { input: {}, fields: given }
  upload.check(input)
  const { fields } = await upload.addTo(input, asked.pause)
  try {
    return await answers.answer(asked, { approved, fields, by })
  } catch (error) {
    // After a failure of the store, the answer may be on disk, so its files must stay.
    if (!isOutage(error)) await upload.withdraw(asked.pause)
    throw error
  }
}

/** Why an answer has no effect. */
export const ends = ['ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'] as const

function isOutage(error: unknown): boolean {
  return !(error instanceof AppError) || error.code === 'STORAGE_UNAVAILABLE'
}

/** Absent counts as true. A form sends texts instead of booleans. */
function approvedIn(given: unknown = true): boolean {
  if (given === 'true' || given === true) return true
  if (given === 'false' || given === false) return false
  throw new AppError('INVALID_INPUT', 'approved must be true or false.')
}
