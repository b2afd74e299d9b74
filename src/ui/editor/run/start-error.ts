import { ApiError } from '../../api/api-error.ts'
import { messageOf } from '../../api/message-of.ts'
import type { Document } from '../document/document.ts'

/** Why a run could not start: a sentence for people and, if there are several problems, the first few of them. */
export type StartError = { text: string; problems: readonly Problem[]; more: number }

/** `blockId`: the block that causes the problem, if any. */
export type Problem = { text: string; blockId: string | undefined }

export function startErrorOf(error: unknown, { blocks }: Pick<Document, 'blocks'>): StartError {
  const rows = error instanceof ApiError ? error.details : []
  const problems = rows.filter(({ message }) => !message.startsWith('Warning: ')).map((row) => problemOf(row, blocks))
  const [first] = problems
  if (first && problems.length > 1) {
    const text = `The workflow cannot run: ${problems.length} problems.`
    return { text, problems: problems.slice(0, shownMax), more: Math.max(0, problems.length - shownMax) }
  }
  if (first?.blockId === undefined) return { text: messageOf(error), problems: [], more: 0 }
  return { text: 'The workflow cannot run.', problems, more: 0 }
}

/** Maximum number of problems shown. The header lists all of them. */
const shownMax = 4

/** Replaces block ids in the service's messages with block names. */
function problemOf({ path, message }: ApiError['details'][number], blocks: Document['blocks']): Problem {
  for (const { id, name } of Object.values(blocks)) {
    const named = [`In block "${name}" (${id}): `, `In block "${id}" (${id}): `].find((start) =>
      message.startsWith(start),
    )
    if (named) return { text: `${name}: ${message.slice(named.length)}`, blockId: id }
  }
  const within = Object.keys(blocks).find((id) => `${path}.`.startsWith(`blocks.${id}.`))
  return { text: message, blockId: within }
}
