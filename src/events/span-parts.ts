import type { SpanAttempt, SpanPause } from '../domain/run/log.ts'
import type { IsoTime } from '../domain/text/iso-time.ts'
import { numberText } from './span-pieces.ts'

// The rare members of a span. `texts` writes a text as JSON without the workspace's secrets.

type OwnTexts = { string(value: string): string }

export function pauseText(
  { contextId, kind, since, endedAt, outcome, by }: SpanPause,
  texts: OwnTexts,
  iso: IsoTime,
): string {
  return (
    `{"contextId":"${contextId}","kind":"${kind}","since":"${iso(since)}","endedAt":"${iso(endedAt)}",` +
    `"outcome":"${outcome}","by":${by === null ? 'null' : texts.string(by)}}`
  )
}

export function attemptText(
  { number, startTime, durationMs, status, error }: SpanAttempt,
  texts: OwnTexts,
  iso: IsoTime,
): string {
  let text = `{"number":${number},"startTime":"${iso(startTime)}","duration":${numberText(durationMs)}`
  if (status !== undefined) text += `,"status":${status}`
  if (error !== undefined) text += `,"error":${texts.string(error)}`
  return `${text}}`
}
