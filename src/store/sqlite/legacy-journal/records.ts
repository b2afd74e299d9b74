import type { Level, LogFiles, LogRow, RunWebhooks } from '../../../domain/run/log.ts'
import { logWrite, type Write } from '../../../domain/run/write.ts'
import type { TriggerKind } from '../../../domain/workflow/workflow.ts'

// Legacy: see import.ts.

/**
 * Decodes the text of one journal record. Each write is a line (a letter for its kind, then numbers and the lengths of
 * its texts) followed by the texts. Bytes were written as one character per byte. Throws when the text is malformed.
 */
export function decodeLegacyRecord(text: string): Write[] {
  const writes: Write[] = []
  const reader = new Reader(text)
  while (reader.hasMore) writes.push(decodeWrite(reader))
  return writes
}

/** A journal holds nothing but log entries and the progress of jobs. */
function decodeWrite(reader: Reader): Write {
  const [kind, ...head] = reader.line()
  switch (kind) {
    case 'L': {
      const row = decodeLog(reader, head)
      return logWrite(row, head[16] === '-1' ? null : reader.bytes(head[16]))
    }
    case 'S':
      return { kind: 'job-start', at: Number(head[0]), executionId: reader.text(head[1]) }
    case 'P': {
      const executionId = reader.text(head[1])
      return { kind: 'job-step', number: Number(head[0]), executionId, content: reader.bytes(head[2]) }
    }
    default:
      throw new Error(`unknown kind of write "${kind}"`)
  }
}

function decodeLog(reader: Reader, head: readonly string[]): LogRow {
  return {
    sequence: Number(head[0]),
    version: Number(head[1]),
    level: head[2] as Level,
    trigger: head[3] as TriggerKind,
    createdAt: head[4] === '' ? null : Number(head[4]),
    startedAt: Number(head[5]),
    endedAt: Number(head[6]),
    durationMs: Number(head[7]),
    costTotal: Number(head[8]),
    models: head[9] === '0' ? [] : (JSON.parse(reader.text(head[9])) as string[]),
    executionId: reader.text(head[10]),
    workflowId: reader.text(head[11]),
    workspaceId: reader.text(head[12]),
    cost: head[13] === '-1' ? null : reader.text(head[13]),
    finalOutput: reader.text(head[14]),
    rawOutput: null,
    traceSpans: reader.text(head[15]),
    ...(head[17] === '0' ? undefined : { files: JSON.parse(reader.text(head[17])) as LogFiles }),
    ...(head[18] === '0' ? undefined : { webhooks: JSON.parse(reader.text(head[18])) as RunWebhooks }),
  }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get hasMore(): boolean {
    return this.#at < this.#text.length
  }

  line(): string[] {
    const end = this.#text.indexOf('\n', this.#at)
    if (end < 0) throw new Error('the line of a write does not end')
    const words = this.#text.slice(this.#at, end).split(' ')
    this.#at = end + 1
    return words
  }

  text(length: string | undefined): string {
    const start = this.#at
    this.#at += Number(length)
    if (!(this.#at <= this.#text.length)) throw new Error(`a text of length ${length} is incomplete`)
    return this.#text.slice(start, this.#at)
  }

  bytes(length: string | undefined): Uint8Array {
    return Uint8Array.from(Buffer.from(this.text(length), 'latin1'))
  }
}
