import type { BeyondLimit } from '../workflow/workflow-limits.ts'
import { type Rate, type RateEntry, RateWindow } from './rate-window.ts'

/** A start that asks for a slot. `isNew`: it does not wait yet, so it may be refused or skipped. */
export type SharedStart = { executionId: string; hasStarted: boolean; isNew: boolean }

/** A run with a slot, in a workflow with `replace`. `at`: when it got its slot, in epoch milliseconds. */
export type SharedRun = { executionId: string; at: number; isReplaced: boolean }

/** The starts of a workflow and key in one process, and its request for slots. */
export type SharedGroupAsk = {
  workflowId: string
  key: string
  /** Undefined: no limit. */
  concurrency?: number
  rate?: Rate
  beyond: BeyondLimit
  queueMax: number
  /** How many runs of this process have a slot. */
  running: number
  /** These runs; only with `replace`. */
  runs?: readonly SharedRun[]
  /** How many starts of this process wait, including those in `starts` that are not new. */
  waiting: number
  starts: readonly SharedStart[]
}

/** `retryAfterMs`: after which a refused caller should try again. */
export type SharedGroupAnswer = {
  granted: { executionId: string; at: number }[]
  queued: string[]
  refused: string[]
  retryAfterMs: number
  /** Runs of this process that newer starts replace, so they are to be cancelled. */
  replaced: string[]
}

/** The starts of a workflow and key in all processes, as the store keeps them. */
export type SharedGroup = { owners: Readonly<Record<string, OwnerStarts>>; rate: readonly RateEntry[] }

/** `since`: the process has waited since then without getting a slot. `seenAt`: the time of its latest request. */
type OwnerStarts = {
  running: number
  waiting: number
  since: number | null
  seenAt: number
  runs?: readonly SharedRun[]
}

/** `owner`: the process that asks. `living`: the processes that run, whose starts count. */
export type SharedMoment = { owner: number; living: ReadonlySet<number>; now: number }

/**
 * Decides which starts of one process get a slot. The request has all starts of the process and replaces the stored
 * ones, so the next request corrects a response that was lost. `group` is undefined when it has no starts.
 */
export function decideStarts(
  before: SharedGroup | undefined,
  ask: SharedGroupAsk,
  { owner, living, now }: SharedMoment,
): { group: SharedGroup | undefined; answer: SharedGroupAnswer } {
  const { concurrency = Number.POSITIVE_INFINITY, rate, beyond, queueMax } = ask
  const others = Object.entries(before?.owners ?? {}).filter(
    ([name]) => Number(name) !== owner && living.has(Number(name)),
  )
  const known = before?.owners[owner]
  const marked = new Set(known?.runs?.filter(({ isReplaced }) => isReplaced).map(({ executionId }) => executionId))
  const runs = ask.runs?.map((run) => ({ ...run, isReplaced: run.isReplaced || marked.has(run.executionId) }))
  const own = { running: ask.running, waiting: ask.waiting, since: known?.since ?? now }
  const window = new RateWindow(before?.rate)
  const sum = (member: 'running' | 'waiting') => others.reduce((total, [, each]) => total + each[member], own[member])
  const answer: SharedGroupAnswer = { granted: [], queued: [], refused: [], retryAfterMs: 1_000, replaced: [] }
  // A process that releases a slot usually takes it for its own next start. Other processes must not starve.
  const isBehind = others.some(([, { since, seenAt, waiting }]) => {
    return waiting > 0 && since !== null && since < Math.min(now, own.since) - patienceMs && seenAt > now - patienceMs
  })
  let isBlocked = isBehind
  for (const { executionId, hasStarted, isNew } of ask.starts) {
    const inRate = !rate || hasStarted || window.count(now, rate) < rate.count
    const isFree = sum('running') < concurrency && inRate && (hasStarted || !isBlocked)
    if (isFree) {
      own.running += 1
      own.since = now
      if (!isNew) own.waiting -= 1
      if (rate && !hasStarted) window.add(now, rate)
      runs?.push({ executionId, at: now, isReplaced: false })
      answer.granted.push({ executionId, at: now })
      continue
    }
    if (!hasStarted) isBlocked = true
    if (!isNew) continue
    const isRefused = !hasStarted && (beyond === 'skip' || beyond === 'refuse' || sum('waiting') >= queueMax)
    if (isRefused) answer.refused.push(executionId)
    else {
      own.waiting += 1
      answer.queued.push(executionId)
    }
  }
  if (rate && window.count(now, rate) >= rate.count) answer.retryAfterMs = window.freeAt(rate.count, rate) - now
  const owners: Record<string, OwnerStarts> = Object.fromEntries(others)
  if (own.running > 0 || own.waiting > 0) {
    owners[owner] = { ...own, since: own.waiting > 0 ? own.since : null, seenAt: now, ...(runs && { runs }) }
  }
  if (beyond === 'replace' && sum('running') >= concurrency) markOldest(owners, sum('waiting'))
  const wasReplaced = new Set(ask.runs?.filter(({ isReplaced }) => isReplaced).map(({ executionId }) => executionId))
  for (const { executionId, isReplaced } of owners[owner]?.runs ?? []) {
    if (isReplaced && !wasReplaced.has(executionId)) answer.replaced.push(executionId)
  }
  const isEmpty = Object.keys(owners).length === 0 && (!rate || window.count(now, rate) === 0)
  return { group: isEmpty ? undefined : { owners, rate: rate ? window.entries : [] }, answer }
}

/** Marks the oldest runs as replaced, one for each start that waits. */
function markOldest(owners: Record<string, OwnerStarts>, count: number): void {
  const all = Object.values(owners).flatMap(({ runs = [] }) => runs)
  const oldest = all.toSorted((a, b) => a.at - b.at).slice(0, count)
  const names = new Set(oldest.map(({ executionId }) => executionId))
  for (const [name, { runs, ...rest }] of Object.entries(owners)) {
    if (!runs) continue
    owners[name] = {
      ...rest,
      runs: runs.map((run) => (names.has(run.executionId) ? { ...run, isReplaced: true } : run)),
    }
  }
}

/** How long a process may reuse the slots that it releases while another process waits. */
const patienceMs = 1_000
