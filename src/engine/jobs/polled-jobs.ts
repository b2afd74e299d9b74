import type { Clock } from '../../domain/clock.ts'
import { AppError, StartSkipped } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { PollCommit, PollPlace } from '../../domain/poll/poll.ts'
import type { Refusal } from '../../domain/run/claim.ts'
import type { JobFacts, NewJob } from '../../domain/run/job.ts'
import type { JobWrite } from '../../domain/run/write.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { JobEntry, LimitedJobs } from '../limits/limited-jobs.ts'
import type { JobQueue } from './job-queue.ts'
import { inputText, replaceInput } from './job-record.ts'
import type { JobRequest } from './jobs-options.ts'

/** The state of a poll after a commit. */
export type PollResult = Omit<PollCommit, keyof PollPlace | 'seen'>

/**
 * A run that a new item starts. `hash`: of the item; absent when the poll knows by its state what it has seen.
 * `executionId`: the ID of the run; absent for a new one.
 */
export type PolledStart = { hash?: string; executionId?: string; request: Omit<JobRequest, 'executionId'> }

/**
 * `known`: hashes of items that start nothing and count as seen. `whole`: the result when all starts are taken; `part`:
 * when some are left for the next call.
 */
export type PolledStarts = {
  poll: PollPlace
  starts: readonly PolledStart[]
  known: readonly string[]
  whole: PollResult
  part: PollResult
  /** Whether the owner may start another run now. Called once for each start. */
  admit?(): boolean
}

/**
 * `taken`: how many of the starts are done, from the first one. Those that the limits of the workflow skip, or that
 * join an earlier run, are done as well. `started`: the IDs of the runs. `isFull`: the limits of the workflow or of its
 * owner refuse the next start for now.
 */
export type PolledOutcome = { taken: number; started: readonly string[]; isFull: boolean }

export type PolledOptions = {
  queue: JobQueue
  limited?: LimitedJobs | undefined
  write(write: JobWrite): Promise<Refusal | undefined>
  seal(text: string, executionId: string): Uint8Array
  inSlices?: InSlices | undefined
  clock: Clock
}

/**
 * Accepts runs of new items as queued jobs, in the commit that remembers these items: as many starts as one commit
 * should have. Undefined when the poll has changed, and nothing is started. The caller dispatches.
 */
export async function acceptPolled(
  { poll, starts, known, whole, part, admit }: PolledStarts,
  options: PolledOptions,
): Promise<PolledOutcome | undefined> {
  const { queue, limited, write, clock } = options
  const jobs: PolledJob[] = []
  const hashes: string[] = []
  let [taken, chars, isFull] = [0, 0, false]
  const takeBack = () => {
    for (const { facts, isParked } of jobs) {
      limited?.leave(facts.executionId)
      if (!isParked) queue.retract(facts.executionId)
    }
  }
  try {
    for (const { hash, request, executionId = newExecutionId() } of starts) {
      const given = inputText(request.input, options.inSlices)
      const text = typeof given === 'string' ? given : await given
      // A debounced start waits until the previous one is on disk, so each has its own commit.
      const isLimited = taken > 0 && (await limited?.isLimited(request.workflowId)) === true
      if (taken > 0 && (isLimited || taken >= startsMax || chars + text.length > charsMax)) break
      const entry = admit?.() === false ? 'full' : await enter({ executionId, request, text }, options)
      if (entry === 'full') {
        isFull = true
        break
      }
      taken += 1
      if (hash !== undefined) hashes.push(hash)
      if (entry === 'skipped' || entry.joined !== undefined) continue
      chars += text.length
      jobs.push(jobOf({ executionId, request, text, isParked: entry.isParked, createdAt: clock.now() }, options))
      if (!entry.isParked) queue.announce(executionId)
    }
    if (taken === 0 && starts.length > 0) return { taken, started: [], isFull }
    const result = taken === starts.length ? whole : part
    const commit = { ...poll, ...result, seen: [...known, ...hashes] }
    if (await write({ kind: 'poll', poll: commit, jobs: jobs.map(({ row }) => row) })) {
      takeBack()
      return undefined
    }
  } catch (error) {
    takeBack()
    // The commit may have happened all the same: then the jobs are on disk.
    queue.expectMore()
    throw error
  }
  for (const { facts, isParked } of jobs) {
    if (isParked) limited?.park(facts)
    else queue.put(facts)
  }
  return { taken, started: jobs.map(({ facts }) => facts.executionId), isFull }
}

/** Applies the limits of the workflow. `skipped`: they drop the start. `full`: they refuse it for now. */
async function enter(
  { executionId, request, text }: { executionId: string; request: PolledStart['request']; text: string },
  { limited, seal, write }: PolledOptions,
): Promise<JobEntry | 'skipped' | 'full'> {
  const { workflowId, version, trigger, input } = request
  if (!limited) return { isParked: false }
  try {
    const start = { executionId, workflowId, trigger, input }
    return await limited.enter(start, replaceInput(version, text, { seal, write }))
  } catch (error) {
    if (error instanceof StartSkipped) return 'skipped'
    if (error instanceof AppError && error.code === 'WORKFLOW_LIMIT') return 'full'
    throw error
  }
}

type PolledJob = { facts: JobFacts; row: NewJob; isParked: boolean }

function jobOf(
  job: { executionId: string; request: PolledStart['request']; text: string; isParked: boolean; createdAt: number },
  { seal }: PolledOptions,
): PolledJob {
  const { executionId, request, text, isParked, createdAt } = job
  const { workflowId, workspaceId, version, trigger } = request
  const facts = { executionId, workflowId, workspaceId, createdAt, startedAt: null }
  const input = seal(text, executionId)
  const row = { ...facts, version, trigger, input, ...(isParked && { isClaimed: true }) }
  return { facts: { ...facts, inputBytes: text.length }, row, isParked }
}

/** Starts in one commit at most, so that other writes do not wait for long. */
const startsMax = 100
const charsMax = 4_194_304
