import { Alerts } from '../alerts/alerts.ts'
import { AlertEvaluator } from '../alerts/evaluator.ts'
import { EventStarts } from '../alerts/event-starts.ts'
import { messageOf } from '../domain/errors.ts'
import { urlProblem } from '../outbound/url-problem.ts'
import { templateProblem } from '../webhooks/subscriptions.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { Delivery } from './delivery.ts'
import type { Engine } from './engine.ts'

/** Alerts and event triggers: what people set, and what evaluates it in the background. */
export type AlertParts = ReturnType<typeof assembleAlerts>

type AlertsOptions = Base & { accounts: Accounts; delivery: Delivery; engine: Engine }

export function assembleAlerts({ accounts, delivery, engine, ...base }: AlertsOptions) {
  const { store, clock, logger, cluster, outboundAllow } = base
  const starts = new EventStarts({
    store,
    clock,
    limits: accounts.limits,
    eventsNoted: () => base.events.settled(),
    accept: (request, claim) => engine.jobs.acceptOnce(request, claim),
    onDropped: ({ workflowId }, reason) => logger.warn('an event started no run', { workflowId, reason }),
  })
  const evaluator = new AlertEvaluator({
    store,
    clock,
    write: async (evaluation) => (await delivery.writer.write({ kind: 'alerts', evaluation })) === undefined,
    startRuns: starts.run,
    isLeader: () => cluster.isLeader,
    onTrouble: (cause) => logger.error('alerts cannot be evaluated', { reason: messageOf(cause) }),
  })
  const alerts = new Alerts({
    store,
    clock,
    seal: (secret, context) => accounts.box.seal(secret, context),
    urlProblem: (url) => templateProblem(url, (filled) => urlProblem(filled, outboundAllow)),
    sendsMail: base.mailer !== undefined,
    onChange: evaluator.nudge,
  })
  return { alerts, evaluator }
}
