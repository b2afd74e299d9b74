import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import { isCancelled } from '../domain/run/failure.ts'
import { folderOf, type RunFile } from '../domain/run/file.ts'
import type { FailureNote, LogFiles, LogRow, RunFailure, RunLabels, RunRecord } from '../domain/run/log.ts'
import { shorten } from '../domain/text/shorten.ts'

// The rare parts of a row, without the workspace's secrets.

/** Names, types and addresses, and therefore keys, contain texts chosen by callers and other services. */
export function filesOf(record: RunRecord, files: readonly RunFile[]): LogFiles {
  const { secrets } = record
  const clean = (text: string) => (secrets ? redactText(text, secrets) : text)
  const shown = files.map(({ key, file }) => ({
    key: key === null ? null : clean(key),
    file: { ...file, url: clean(file.url), name: clean(file.name), type: clean(file.type) },
  }))
  return { text: JSON.stringify(shown), folder: files.some(({ key }) => key !== null) ? folderOf(record) : null }
}

/** Whether a run has no notes, as most. */
export function isPlain({ failure, partial, source, labels }: RunRecord): boolean {
  return failure === null && partial === undefined && source === undefined && labels === undefined
}

type Notes = Pick<LogRow, 'failure' | 'cancelled' | 'partial' | 'source' | 'labels'>

export function notesOf({ failure, partial, source, labels, secrets }: RunRecord): Notes {
  return {
    ...(failure ? { failure: noteOf(failure, secrets) } : {}),
    ...(failure && isCancelled(failure) ? { cancelled: true } : {}),
    ...(partial ? { partial } : {}),
    ...(source ? { source } : {}),
    ...(labels ? { labels: labelsOf(labels, secrets) } : {}),
  }
}

/** Secrets are removed before the message is shortened. */
function noteOf({ code, message, blockId, blockName }: RunFailure, secrets: Redactor | undefined): FailureNote {
  const clean = (text: string) => (secrets ? redactText(text, secrets) : text)
  const name = blockName === null ? null : clean(blockName)
  return { code, message: shorten(clean(message), noteCharsMax), blockId, blockName: name }
}

const noteCharsMax = 500

function labelsOf(labels: RunLabels, secrets: Redactor | undefined): RunLabels {
  if (secrets === undefined) return labels
  const clean = Object.entries(labels).map(([name, text]) => [redactText(name, secrets), redactText(text, secrets)])
  return Object.fromEntries(clean) as RunLabels
}
