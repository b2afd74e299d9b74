import { remember, remembered } from '../../shell/browser-memory.ts'

/** The latest run by hand of a workflow, and the latest that was not of one block alone. */
export type RememberedRun = { executionId: string; wholeId: string | undefined }

/** Keeps the latest run of a workflow in this browser, or forgets it. */
export function rememberRun(workflowId: string, run: RememberedRun | undefined): void {
  const others = all().filter((one) => one.workflowId !== workflowId)
  const next = run ? [{ workflowId, ...run }, ...others] : others
  remember(storageKey, JSON.stringify(next.slice(0, workflowsMax)))
}

export function rememberedRun(workflowId: string): RememberedRun | undefined {
  return all().find((one) => one.workflowId === workflowId)
}

const storageKey = 'millrace.latest-runs'

/** Workflows whose run is remembered; those that ran longest ago are forgotten. */
const workflowsMax = 50

type Entry = RememberedRun & { workflowId: string }

/** The newest first. */
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
