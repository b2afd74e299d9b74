import { newToken } from '../../accounts/sessions.ts'
import { messageOf } from '../../domain/errors.ts'
import { timeOfSequence } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import type { ChatParameters } from '../../domain/workflow/chat.ts'
import type { JobsOptions } from '../../engine/jobs/jobs-options.ts'
import type { OpenFiles } from '../../files/open.ts'
import type { TakenRequest } from '../../http/requests/taken-request.ts'
import { Conversations } from '../../triggers/conversations.ts'
import { LateReplies } from '../../triggers/late-replies.ts'
import { Poller } from '../../triggers/polls/poller.ts'
import { logOutcome } from '../../triggers/schedule-log.ts'
import { createScheduledStart } from '../../triggers/scheduled-start.ts'
import { Scheduler } from '../../triggers/scheduler.ts'
import { TestListeners } from '../../triggers/test-listeners.ts'
import type { Accounts } from '../accounts.ts'
import type { Base } from '../base.ts'
import type { Delivery } from '../delivery.ts'
import type { Engine } from '../engine.ts'
import { stopAll } from '../stop-all.ts'
import { assembleMailboxes } from './mailboxes.ts'

/** The parts that start runs by themselves or keep their state: the scheduler, polls and the conversations of chats. */
export type Triggers = ReturnType<typeof assembleTriggers>

export type TriggersOptions = Base & {
  accounts: Accounts
  delivery: Delivery
  engine: Engine
  files: OpenFiles
  /** The last sequence number of the log before this start. */
  lastSequence: number
}

export function assembleTriggers(options: TriggersOptions) {
  const { accounts, delivery, engine, lastSequence, ...base } = options
  const { store, metrics, logger, clock, config } = base
  const { writer } = delivery
  const { box, limits } = accounts
  const { jobs, pollCalls } = engine
  const scheduler = new Scheduler({
    store,
    clock,
    random: Math.random,
    start: createScheduledStart({ limits, accept: (request, claim) => jobs.acceptOnce(request, claim), clock }),
    take: async (step) => (await writer.write({ kind: 'schedule', step })) === undefined,
    prepare: (ownerIds) => limits.preload(ownerIds),
    onResolved(row, dueAt, outcome) {
      metrics.schedules.decided(outcome, clock.now() - dueAt)
      logOutcome(logger, row, dueAt, outcome)
    },
    onTrouble: (cause) => logger.error('the scheduler cannot continue', { reason: messageOf(cause) }),
    lastSeenAt: timeOfSequence(lastSequence),
    isLeader: () => base.cluster.isLeader,
  })
  const poller = new Poller({
    ...{ store, clock, limits },
    random: Math.random,
    sourceOf: (row) => pollCalls.sourceOf(row),
    accept: (starts) => jobs.acceptPolled(starts),
    turns: {
      total: Math.max(1, Math.floor(config.outboundConcurrency / 2)),
      perOrigin: config.pollHostConcurrency,
      shareFactor: config.shareFactor,
    },
    onPolled: ({ outcome, started, late }) => metrics.polls.ended(outcome, started, late),
    onTrouble: (cause) => logger.error('polls cannot continue', { reason: messageOf(cause) }),
    isLeader: () => base.cluster.isLeader,
  })
  const mailboxes = assembleMailboxes(options)
  const conversations = new Conversations({
    listTurns: (workflowId, conversationId, limit) => store.listTurns(workflowId, conversationId, limit),
    write: (write) => writer.write(write),
    seal: (text, context) => box.seal(text, context),
    open: (sealed, context) => box.openText(sealed, context),
    clock,
  })
  const lateReplies = new LateReplies({
    keep: (conversation, turn) => conversations.keep(conversation, turn),
    onFailure: (executionId, cause) => logger.error('a chat message could not be stored', { executionId, cause }),
  })
  const listeners = new TestListeners<TakenRequest>({ clock, newToken, shareFactor: config.shareFactor })
  /** Called when a run's log entry is on disk: a schedule may wait for its run to end. */
  const recorded = ({ trigger, workflowId, executionId }: RunRecord) => {
    if (trigger === 'schedule') scheduler.ended(workflowId, executionId)
  }
  /** Call after a workflow was deployed, undeployed or deleted. */
  const changed = (workflowId: string) => {
    scheduler.changed(workflowId)
    poller.changed(workflowId)
    mailboxes.changed(workflowId)
  }
  const leaderChanged = () => {
    scheduler.leaderChanged()
    poller.leaderChanged()
    mailboxes.leaderChanged()
  }
  const open = () => {
    void scheduler.open()
    poller.open()
    mailboxes.open()
  }
  const stop = () =>
    stopAll(logger, [
      ['test requests', () => listeners.stop()],
      ['schedules', () => scheduler.stop()],
      ['polls', () => poller.stop()],
      ['mailboxes', () => mailboxes.stop()],
    ])
  const onChatEnded: Required<JobsOptions>['onChatEnded'] = async ({ deployment: { plan }, input, record }) => {
    const chat = plan?.triggers.get('chat')?.params as ChatParameters | undefined
    if (plan && chat) await lateReplies.ended({ document: plan.document, chat, input, record })
  }
  const parts = { scheduler, poller, mailboxes, conversations, listeners }
  return { ...parts, onChatEnded, recorded, changed, leaderChanged, open, stop }
}
