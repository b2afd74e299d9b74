import { Cluster } from '../cluster/cluster.ts'
import { messageOf } from '../domain/errors.ts'
import type { OpenFiles } from '../files/open.ts'
import type { Change } from '../store/process-store.ts'
import type { Accounts } from './accounts.ts'
import type { AlertParts } from './alerts.ts'
import type { Base } from './base.ts'
import type { Delivery } from './delivery.ts'
import type { Engine } from './engine.ts'
import type { Triggers } from './triggers/triggers.ts'

/** The parts that other processes concern. */
export type SharedParts = {
  accounts: Accounts
  files: OpenFiles
  delivery: Delivery
  engine: Engine
  triggers: Triggers
  alerts: AlertParts
}

/** `parts` is called only after `open`, when all of them exist. */
export function assembleCluster(
  { store, clock, logger }: Pick<Base, 'store' | 'clock' | 'logger'>,
  parts: () => SharedParts,
): Cluster {
  const changed = (change: Change) => {
    const { delivery, engine, triggers } = parts()
    if (change.kind === 'delivery') return delivery.dispatcher.commands.changedElsewhere(change.key)
    engine.deployments.forget(change.workflowId)
    delivery.subscriptions.forget(change.workflowId)
    triggers.changed(change.workflowId)
    engine.limited.changed(change.workflowId)
  }
  return new Cluster({
    ...{ store, clock, random: Math.random },
    own: () => ({ runs: parts().engine.runner.inFlight }),
    onChange: changed,
    onUnknownChanges() {
      const { delivery, engine, triggers } = parts()
      engine.deployments.forgetAll()
      delivery.subscriptions.forgetAll()
      triggers.leaderChanged()
    },
    onLeader() {
      const { triggers, alerts } = parts()
      triggers.leaderChanged()
      alerts.evaluator.nudge()
    },
    onClaimsLost() {
      logger.warn('other processes have taken over what this one had claimed, because it did not check in for too long')
      parts().delivery.dispatcher.forgetAll()
      parts().engine.limited.ofJobs.giveUp()
    },
    async onDrain(isFirst) {
      if (isFirst) logger.info('draining: other processes take over')
      const { dispatcher } = parts().delivery
      await store.releaseWork(dispatcher.attempting)
      dispatcher.forgetAll()
      parts().engine.limited.ofJobs.giveUp()
    },
    takeJobs: (unclaimed) => parts().engine.jobs.takeOver(unclaimed),
    adopted: (subscriptions) => parts().delivery.dispatcher.adopt(subscriptions),
    async withOthers() {
      const { accounts, files, triggers } = parts()
      accounts.usage.refresh()
      accounts.chatBudget.refresh()
      files.refreshQuota()
      await triggers.scheduler.lookForEnded()
    },
    resume: () => parts().delivery.dispatcher.dispatchSoon(),
    onTrouble(cause) {
      if (cause === undefined) logger.info('the process checks in with the others again')
      else logger.error('the process cannot check in with the others', { reason: messageOf(cause) })
    },
  })
}
