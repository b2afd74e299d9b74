import { storeKindOf } from '../config.ts'
import { type EndedPause, firstDueAt, type NewPause } from '../domain/run/pause.ts'
import type { JobWrite } from '../domain/run/write.ts'
import { DeletedWorkflowRuns } from '../engine/jobs/deleted-workflow-runs.ts'
import { DuePauses } from '../engine/jobs/due-pauses.ts'
import type { Jobs } from '../engine/jobs/jobs.ts'
import { PauseAnswers } from '../engine/jobs/pause-answers.ts'
import { PauseBudget } from '../engine/jobs/pause-budget.ts'
import { PauseCommands } from '../engine/jobs/pause-commands.ts'
import { PauseTokens } from '../engine/jobs/pause-links.ts'
import { openPause, pauseRun } from '../engine/jobs/pause-run.ts'
import type { Runner } from '../engine/run/runner.ts'
import type { RunnerOptions } from '../engine/run/runner-options.ts'
import type { Accounts } from './accounts.ts'
import { approvalMailsOf } from './approval-mails.ts'
import type { Base } from './base.ts'
import type { Delivery } from './delivery.ts'

export type PausesOptions = Pick<Base, 'config' | 'store' | 'clock' | 'logger' | 'slices' | 'mailer'> & {
  accounts: Accounts
  delivery: Delivery
  baseUrl(): string
  /** Called only after all parts are connected. */
  parts(): { jobs: Jobs; runner: Runner }
}

/** Pauses of runs: how they are written, how they end, and the links at which people and programs answer them. */
export function assemblePauses({ config, store, clock, logger, slices, accounts, delivery, ...more }: PausesOptions) {
  const { baseUrl, parts } = more
  const { jobSeal, box } = accounts
  const { pauseEvents } = delivery
  const tokens = new PauseTokens({ keys: () => box.derive('millrace pauses', true), baseUrl })
  const due = new DuePauses({
    ...{ store, clock, lookEveryMs: storeKindOf(config) === 'sqlite' ? undefined : lookEveryMs },
    resume: (jobs) => parts().jobs.resume(jobs),
    waiting: () => parts().jobs.waitingToResume,
    onFailure: (cause) => logger.warn('due pauses could not be ended', { cause }),
  })
  /** Continues the run if it is paused. Otherwise it is in memory, here or elsewhere, or is about to pause. */
  const goOn = ({ job, pause }: EndedPause) => {
    if (job) parts().jobs.resume([job])
    else parts().runner.answered(pause)
  }
  const commands = new PauseCommands({
    ...{ store, clock, goOn, noted: (until) => due.note(until) },
  })
  const ofDeleted = new DeletedWorkflowRuns({
    ...{ store, clock, cancel: (executionId) => parts().jobs.cancel(executionId) },
    onFailure: (cause) => logger.warn('paused runs of deleted workflows could not be cancelled', { cause }),
  })
  const budget = new PauseBudget({ store, clock, max: config.pausesMax })
  const answers = new PauseAnswers({ store, clock, seal: jobSeal.seal, open: jobSeal.open, goOn })
  const writing = {
    ...{ seal: jobSeal.seal, inSlices: slices.run, eventOf: pauseEvents.begun },
    write: (write: JobWrite) => delivery.writer.write(write),
  }
  const note = (pauses: readonly NewPause[]) => {
    for (const pause of pauses) due.note(firstDueAt(pause))
  }
  const linksOf = (contextId: string) => tokens.linksOf(contextId)
  const announce = approvalMailsOf({ mailer: more.mailer, accounts, store, logger, linksOf })
  const ofRunner: Pick<RunnerOptions, 'pause' | 'openPause' | 'admitPause' | 'resumed' | 'sealPauses'> = {
    async pause(run) {
      await pauseRun(run, writing)
      note(run.pauses)
      announce({ executionId: run.record.executionId, workspaceId: run.request.workspaceId }, run.pauses)
      // A pause may have ended while its run was pausing.
      const job = run.history ? undefined : await store.findJob(run.record.executionId)
      if (job?.state === 'interrupted') parts().jobs.resume([job])
    },
    admitPause: (workspaceId) => budget.take(workspaceId),
    async openPause(opening) {
      const write = await openPause(opening, writing)
      note([opening.pause])
      announce(opening.facts, [opening.pause])
      return write
    },
    async resumed(run, ended) {
      const event = await pauseEvents.ended(run, [ended])
      if (event) await delivery.writer.write({ kind: 'job-event', executionId: run.executionId, event })
    },
    sealPauses: (executionId) => ({
      linksOf: (contextId) => tokens.linksOf(contextId),
      seal: (text) => jobSeal.seal(text, executionId),
      open: (sealed) => jobSeal.open(sealed, executionId),
    }),
  }
  return { tokens, due, ofDeleted, commands, answers, ofRunner, onPaused: note }
}

/** How often a process looks for pauses that others have written. */
const lookEveryMs = 5_000
