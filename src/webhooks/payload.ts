import { alertText } from '../domain/alert/alert-text.ts'
import type { FiringContent } from '../domain/alert/evaluation.ts'
import { eventIdOf, logIdOf } from '../domain/ids.ts'
import { costText, filesText } from '../domain/run/log-entry.ts'
import { createIsoTime, type IsoTime } from '../domain/text/iso-time.ts'
import type { AlertSource, DeliverySource, PauseEventSource, RunSource } from '../domain/webhook/delivery.ts'
import { type DeliveryEvent, eventTypeOf } from '../domain/webhook/run-event.ts'
import { include } from '../domain/webhook/subscription.ts'

/**
 * The body of a delivery. It is made from the recorded run or event only, so it is the same, byte for byte, on every
 * attempt. It is also the output of `JSON.stringify`: some receivers parse and serialise it again before they verify
 * the signature.
 *
 * `wanted`: bits of `include`. `iso`: for callers that make many bodies.
 */
export function payloadOf(source: DeliverySource, wanted: number, iso: IsoTime = createIsoTime()): string {
  if ('alert' in source) return alertPayload(source)
  return 'paused' in source ? pausePayload(source, iso) : runPayload(source, wanted, iso)
}

/** The event that a delivery is about. */
export function eventOf(source: DeliverySource): DeliveryEvent {
  if ('alert' in source) return 'alert'
  return 'paused' in source ? source.kind : 'completed'
}

/** The ID of the execution or alert that a delivery is about. */
export function originOf(source: DeliverySource): string {
  return 'alert' in source ? source.alertId : source.executionId
}

/** Chat services show `text`; programs read `data`. */
function alertPayload({ sequence, alertId, at, alert }: AlertSource): string {
  const content = JSON.parse(alert) as FiringContent
  const { alert: names, type, workflowId, workflowName, executionId, error, rule, measured, suppressed } = content
  const workflow = workflowId === null ? null : { id: workflowId, name: workflowName }
  return JSON.stringify({
    ...{ id: eventIdOf(sequence, alertId), type: eventTypeOf('alert'), timestamp: at, text: alertText(content) },
    data: { alert: names, event: type, workflow, executionId, error, rule, measured, suppressed, at: content.at },
    links: { execution: executionId === null ? null : `/api/executions/${executionId}` },
  })
}

function pausePayload(source: PauseEventSource, iso: IsoTime): string {
  const { sequence, kind, workflowId, executionId, trigger, startedAt, at, paused } = source
  const data =
    `"workflowId":${JSON.stringify(workflowId)},"executionId":${JSON.stringify(executionId)},"trigger":"${trigger}",` +
    `"startedAt":"${iso(startedAt)}","paused":${paused}`
  return (
    `{"id":"${eventIdOf(sequence, executionId)}","type":"${eventTypeOf(kind)}","timestamp":${at},` +
    `"data":{${data}},"links":{"status":${JSON.stringify(`/jobs/${executionId}`)}}}`
  )
}

function runPayload(source: RunSource, wanted: number, iso: IsoTime): string {
  const { sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs, pausedMs } = source
  const facts = source.facts === null ? undefined : (JSON.parse(source.facts) as LimitFacts)
  const data = [
    `"workflowId":${JSON.stringify(workflowId)}`,
    `"executionId":${JSON.stringify(executionId)}`,
    `"status":"${level === 'error' ? 'error' : 'success'}"`,
    `"level":"${level}"`,
    `"trigger":"${trigger}"`,
    `"startedAt":"${iso(startedAt)}"`,
    `"endedAt":"${iso(endedAt)}"`,
    `"totalDurationMs":${durationMs}`,
    ...(pausedMs === null ? [] : [`"pausedMs":${pausedMs}`]),
    `"cost":${costText(source.cost)}`,
    `"files":${filesText(source.files)}`,
  ]
  if (wanted & include.finalOutput) data.push(`"finalOutput":${source.finalOutput ?? 'null'}`)
  if (wanted & include.traceSpans) data.push(`"traceSpans":${source.traceSpans ?? '[]'}`)
  if (wanted & include.rateLimits) data.push(`"rateLimits":${JSON.stringify(facts?.rateLimits ?? null)}`)
  if (wanted & include.usage) data.push(`"usage":${JSON.stringify(facts?.usage ?? null)}`)
  const links =
    `"log":"/v1/logs/${logIdOf(sequence)}",` +
    `"execution":${JSON.stringify(`/v1/logs/workflow/pt-BR/executions/${executionId}`)}`
  return (
    `{"id":"${eventIdOf(sequence, executionId)}","type":"${eventTypeOf('completed')}","timestamp":${endedAt},` +
    `"data":{${data.join(',')}},"links":{${links}}}`
  )
}

type RateState = { limit: number; remaining: number; resetAt: number }

/** The rate limits and usage of an account; times are epoch milliseconds. */
export type Limits = {
  workflowExecutionRateLimit: { sync: RateState; async: RateState }
  usage: { currentPeriodCost: number; limit: number; plan: string; isExceeded: boolean }
}

type LimitFacts = { rateLimits: Record<'sync' | 'async', unknown>; usage: Limits['usage'] }

/** The limits of the workflow's owner as text, to be kept until the deliveries are made. */
export function limitFactsText({ workflowExecutionRateLimit: { sync, async }, usage }: Limits): string {
  const stateOf = ({ limit, remaining, resetAt }: RateState) => {
    return { limit, remaining, resetAt: new Date(resetAt).toISOString() }
  }
  return JSON.stringify({ rateLimits: { sync: stateOf(sync), async: stateOf(async) }, usage } satisfies LimitFacts)
}
