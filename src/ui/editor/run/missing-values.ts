import { ApiError } from '../../api/api-error.ts'
import { remember, remembered } from '../../shell/browser-memory.ts'

/** A reference without a value, and why, when a block is to run alone. */
export type MissingValue = { source: string; message: string }

/** The references that the service named; empty for any other error. */
export function missingValues(error: unknown): MissingValue[] {
  if (!(error instanceof ApiError)) return []
  return error.details.flatMap(({ path, message }) =>
    path.startsWith(member) ? [{ source: path.slice(member.length), message }] : [],
  )
}

const member = 'only.values.'

/** JSON, or text when it is not JSON. Empty text is an empty text. */
export function valueOfText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The texts typed for the references of a workflow, by reference. It stays in this browser. */
export function rememberedTexts(workflowId: string): Record<string, string> {
  try {
    const all: unknown = JSON.parse(remembered(storageKey) ?? '{}')
    const own = (all as Record<string, unknown>)[workflowId]
    if (typeof own !== 'object' || own === null) return {}
    return Object.fromEntries(Object.entries(own).filter(([, text]) => typeof text === 'string'))
  } catch {
    return {}
  }
}

export function rememberTexts(workflowId: string, texts: Record<string, string>): void {
  let all: [string, unknown][] = []
  try {
    all = Object.entries(JSON.parse(remembered(storageKey) ?? '{}') as object)
  } catch {
    // Start over.
  }
  const own = Object.entries({ ...rememberedTexts(workflowId), ...texts }).filter(([, text]) => text.length <= charsMax)
  const others = all.filter(([id]) => id !== workflowId).slice(-(workflowsMax - 1))
  remember(
    storageKey,
    JSON.stringify(Object.fromEntries([...others, [workflowId, Object.fromEntries(own.slice(-50))]])),
  )
}

const storageKey = 'millrace.tried-values'
const workflowsMax = 20
const charsMax = 10_000
