import type { FormatFailure, FormatInput, FormatOperation, WrittenFile } from '../domain/format/format-work.ts'

/** The messages between the service and a worker, which does one job after the other. */

export type FormatJob = {
  operation: FormatOperation
  input: FormatInput
  options: Readonly<Record<string, unknown>>
  output?: { folder: string; bytesMax: number } | undefined
}

/** `json`: the text of the data. */
export type FormatAnswer = { ok: true; json: string; files?: readonly WrittenFile[] } | FormatFailure
