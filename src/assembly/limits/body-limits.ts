import { type Config, limitOf } from '../../config.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Limit } from '../../domain/limits.ts'
import { BodyBudget } from '../../http/requests/body-budget.ts'
import type { BodyLimits } from '../../http/requests/body-limits.ts'
import { Turns } from '../../http/requests/turns.ts'
import type { Garbage } from '../garbage.ts'

/** The limits of all request bodies. They share one budget of memory. */
export type Bodies = {
  body: BodyLimits
  bodyWithFiles: BodyLimits
  /** A workflow document: checking one takes longer than reading it. */
  documentBody: BodyLimits
  anonymousBody: BodyLimits
  anonymousBodyWithFiles: BodyLimits
  /** A form with a field for files, from any sender. Its texts have the limits of `anonymousBody`. */
  formWithFiles: BodyLimits
  largest: Limit
}

export function bodiesOf(config: Config, clock: Clock, garbage: Garbage): Bodies {
  const shared = {
    ratio: limitOf(config, 'bodyRatioMax'),
    budget: new BodyBudget(limitOf(config, 'bodiesBytesMax'), (bytes) => garbage.note(bytes)),
    turns: new Turns(clock),
  }
  const known = {
    values: limitOf(config, 'bodyValuesMax'),
    fields: limitOf(config, 'formFieldsMax'),
    files: limitOf(config, 'requestFilesMax'),
    uncheckedBytes: 1_048_576,
    ...shared,
  }
  const body = { ...known, bytes: limitOf(config, 'bodyBytesMax') }
  const bodyWithFiles = { ...known, bytes: limitOf(config, 'bodyBytesMaxFiles') }
  const anonymous = {
    values: lower(known.values, limitOf(config, 'anonymousBodyValuesMax')),
    fields: lower(known.fields, limitOf(config, 'anonymousFormFieldsMax')),
    files: lower(known.files, limitOf(config, 'anonymousFilesMax')),
    // Their bodies have 1 MB at most: 140 bytes would become the largest one.
    uncheckedBytes: 65_536,
    ...shared,
  }
  const anonymousBytes = lower(body.bytes, limitOf(config, 'anonymousBodyBytesMax'))
  const anonymousBytesFiles = lower(bodyWithFiles.bytes, limitOf(config, 'anonymousBodyBytesMaxFiles'))
  return {
    body,
    bodyWithFiles,
    documentBody: {
      ...body,
      bytes: lower(body.bytes, limitOf(config, 'documentBytesMax')),
      values: lower(body.values, limitOf(config, 'documentValuesMax')),
    },
    anonymousBody: { ...anonymous, bytes: anonymousBytes },
    anonymousBodyWithFiles: { ...anonymous, bytes: anonymousBytesFiles },
    formWithFiles: { ...anonymous, bytes: lower(bodyWithFiles.bytes, limitOf(config, 'formBytesMaxFiles')) },
    largest: body.bytes.max > bodyWithFiles.bytes.max ? body.bytes : bodyWithFiles.bytes,
  }
}

/** A visitor's limit is never higher than that of other callers, even when only theirs was lowered. */
function lower(known: Limit, anonymous: Limit): Limit {
  return anonymous.max < known.max ? anonymous : known
}
