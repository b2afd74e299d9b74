import { createJobSeal, type JobSeal } from '../../src/accounts/job-seal.ts'
import { openSecretBox } from '../../src/accounts/secret-box.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { newExecutionId, newId } from '../../src/domain/ids.ts'
import type { NewJob } from '../../src/domain/run/job.ts'
import type { NewPause, PauseWrite } from '../../src/domain/run/pause.ts'
import { PauseTokens } from '../../src/engine/jobs/pause-links.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import type { Installation } from './service.ts'

/** The settings of a service that say where its installation keeps the data. */
export type Place = Installation & { environment: Record<string, string> }

/** One paused run from the store, decrypted. */
export type Template = { row: NewJob; input: string; steps: string[]; pause: NewPause; content: string | null }

export const secretKey = 'the key of a benchmark that protects nothing'
const groupRows = 1_000

/** Opens the store of an installation while its service is stopped. */
export async function openStoreOf({ directory, environment }: Place): Promise<Store> {
  const url = environment['MILLRACE_STORE']
  if (url === undefined) return await openSqliteStore({ directory, sync: 'normal', mode: 'direct' })
  const serves = { version: '1', url: 'http://127.0.0.1:1', usesFolder: false, clock: systemClock }
  return await openPostgresStore({ url, serves })
}

export async function sealOf({ directory }: Place): Promise<JobSeal & { tokens(baseUrl: string): PauseTokens }> {
  const box = await openSecretBox({ directory, secretKey, sealHeads: async () => [] })
  const keys = box.derive('millrace pauses', true)
  return { ...createJobSeal(box), tokens: (baseUrl) => new PauseTokens({ keys: () => keys, baseUrl: () => baseUrl }) }
}

export async function templateOf(store: Store, { open }: JobSeal, executionId: string): Promise<Template> {
  const [job, [pause], steps] = await Promise.all([
    store.getJob(executionId),
    store.listRunPauses(executionId),
    store.getJobSteps(executionId),
  ])
  if (!job || !pause) throw new Error(`The run ${executionId} is not paused`)
  const { workflowId, workspaceId, version, trigger, createdAt, startedAt, input } = job
  const { contextId, place, blockId, blockName, kind, since, until, content } = pause
  return {
    row: { executionId, workflowId, workspaceId, version, trigger, createdAt, startedAt, input },
    input: open(input, executionId),
    steps: steps.map((step) => open(step, executionId)),
    pause: { contextId, place, blockId, blockName, kind, since, until, content },
    content: content && open(content, executionId),
  }
}

/**
 * Writes paused copies of a template, each with its own IDs, time and encryption. Returns the IDs of their pauses. If
 * the input of the template contains `until`, it gets the time of the copy.
 */
export async function writePaused(
  store: Store,
  { seal }: JobSeal,
  template: Template,
  count: number,
  untilOf: (index: number) => number | null,
): Promise<string[]> {
  const contextIds: string[] = []
  for (let done = 0; done < count; done += groupRows) {
    const writes: PauseWrite[] = []
    for (let index = done; index < Math.min(count, done + groupRows); index += 1) {
      const executionId = newExecutionId()
      const until = untilOf(index)
      const contextId = newId()
      contextIds.push(contextId)
      const input = template.input.replace(/"until":"[^"]*"/g, `"until":"${new Date(until ?? 0).toISOString()}"`)
      // The places of blocks contain the ID of the run.
      const own = (text: string) => text.replaceAll(template.row.executionId, executionId)
      const content = template.content === null ? null : seal(own(template.content), executionId)
      writes.push({
        kind: 'job-pause',
        ...{ executionId, at: template.pause.since },
        pauses: [{ ...template.pause, place: own(template.pause.place), contextId, until, content }],
        accepts: {
          row: { ...template.row, executionId, input: seal(input, executionId) },
          steps: template.steps.map((step) => seal(own(step), executionId)),
        },
      })
    }
    if (await store.append(writes)) throw new Error('The store refused the paused runs')
  }
  return contextIds
}
