import { remember, remembered } from '../../shell/browser-memory.ts'

/** The latest manual run of a workflow, and the latest one that ran more than a single block. */
export type RememberedRun = { executionId: string; wholeId: string | undefined }

/** Remembers the latest run of a workflow in this browser, or forgets it. */
export function rememberRun(workflowId: string, run: RememberedRun | undefined): void {
  const others = all().filter((one) => one.workflowId !== workflowId)
  const next = run ? [{ workflowId, ...run }, ...others] : others
  remember(storageKey, JSON.stringify(next.slice(0, workflowsMax)))
}

export function rememberedRun(workflowId: string): RememberedRun | undefined {
  return all().find((one) => one.workflowId === workflowId)
}

const storageKey = 'millrace.latest-runs'

/** Maximum number of remembered workflows. The oldest runs are forgotten first. */
const workflowsMax = 50

type Entry = RememberedRun & { workflowId: string }

/** Newest first. */
function all(): Entry[] {
  try {
    const list: unknown = JSON.parse(remembered(storageKey) ?? '[]')
    return Array.isArray(list) ? list.filter(isEntry) : []
  } catch {
    return []
  }
}

function isEntry(value: unknown): value is Entry {
  const { workflowId, executionId, wholeId } = (value ?? {}) as Record<string, unknown>
  const isWholeText = wholeId === undefined || typeof wholeId === 'string'
  return typeof workflowId === 'string' && typeof executionId === 'string' && isWholeText
}
