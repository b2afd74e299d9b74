import type { Missed } from '../../src/domain/schedule/schedule.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, init, type Serving, serve } from '../support/running-service.ts'

/** A time without a service, from a kill until the next start. Epoch milliseconds. */
export type Absence = { from: number; to: number }

export type ScheduleCrashReport = {
  absences: Absence[]
  /** The sorted due times of the recorded runs, by the schedule's policy for missed due times. */
  dueTimes: Record<Missed, number[]>
  /** Runs that did not succeed. */
  failed: number
}

export const everyMs = 1_000

/** Runs three schedules every second, each with another policy, and repeatedly kills the service with -9. */
export async function crashSchedules(options: {
  kills: number
  random(): number
  progress?(kill: number): void
}): Promise<ScheduleCrashReport> {
  using folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  let service = await serve(folder.path)
  const ids: Partial<Record<Missed, string>> = {}
  for (const missed of ['once', 'skip', 'all'] as const) {
    const params = { intervalMs: everyMs, missed, missedMax: 1_000, overlap: 'allow' }
    const draft = document({ name: missed, blocks: [block('it', 'schedule', params)] })
    ids[missed] = new URL(await deploy(service.url, apiKey, draft)).pathname.split('/')[3]!
  }
  const absences: Absence[] = []
  for (let killed = 0; killed < options.kills; killed += 1) {
    await Bun.sleep(600 + options.random() * 1_500)
    await service.kill('SIGKILL')
    const from = Date.now()
    await Bun.sleep(options.random() * 2_500)
    absences.push({ from, to: Date.now() })
    service = await serve(folder.path)
    options.progress?.(killed + 1)
  }
  // When every schedule has run for a due time after the last start, it has dealt with all missed ones.
  const startedAt = Date.now()
  for (let isDone = false; !isDone; ) {
    const found = await entries(service, apiKey, workspaceId)
    isDone = Object.values(ids).every((id) => dueTimesOf(found, id).some((dueAt) => dueAt > startedAt))
  }
  // Undeploy the schedules, so that the accepted runs can end without new ones.
  for (const id of Object.values(ids)) await call(`${service.url}/api/workflows/${id}/deploy`, apiKey, 'DELETE')
  await untilIdle(service)
  const found = await entries(service, apiKey, workspaceId)
  await service.kill('SIGTERM')
  return {
    absences,
    dueTimes: {
      once: dueTimesOf(found, ids.once),
      skip: dueTimesOf(found, ids.skip),
      all: dueTimesOf(found, ids.all),
    },
    failed: found.filter(({ level }) => level === 'error').length,
  }
}

async function untilIdle({ url }: Serving): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text()
    const counts = [...text.matchAll(/^millrace_jobs\{[^}]*\} (\d+)/gm)].map(([, count]) => Number(count))
    if (counts.every((count) => count === 0)) return
    await Bun.sleep(20)
  }
}

type Entry = { workflowId: string; level: string; finalOutput: { dueAt: string } }

/** The sorted due times of one schedule's runs. */
function dueTimesOf(found: readonly Entry[], id: string | undefined): number[] {
  return found
    .filter(({ workflowId }) => workflowId === id)
    .map(({ finalOutput }) => Date.parse(finalOutput.dueAt))
    .sort((a, b) => a - b)
}

async function entries({ url }: Serving, apiKey: string, workspaceId: string): Promise<Entry[]> {
  const found: Entry[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ workspaceId, limit: '1000', includeFinalOutput: 'true' })
    if (cursor !== '') query.set('cursor', cursor)
    const page = (await call(`${url}/api/v1/logs?${query}`, apiKey)).body as {
      data: Entry[]
      nextCursor: string | null
    }
    found.push(...page.data)
    cursor = page.nextCursor
  }
  return found
}
