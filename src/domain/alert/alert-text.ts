import type { AlertRule } from './alert.ts'
import type { FiringContent } from './evaluation.ts'

/** The text of an alert in one or two sentences, for people. */
export function alertText(content: FiringContent): string {
  const { suppressed } = content
  const more =
    suppressed === 0 ? '' : ` (${suppressed} more such event${suppressed === 1 ? '' : 's'} since the last message)`
  return `${sentenceOf(content)}${more}`
}

function sentenceOf({ type, workflowName, error, rule, measured, alert }: FiringContent): string {
  const workflow = workflowName === null ? undefined : `"${workflowName}"`
  if (rule) return ruleText(rule, { workflow, measured, error })
  switch (type) {
    case 'run.failed':
      return `${workflow} failed${error ? `: ${error}` : '.'}`
    case 'run.succeeded':
      return `${workflow} succeeded.`
    case 'run.paused':
      return `A run of ${workflow} is paused.`
    case 'workflow.deployed':
      return `${workflow} was deployed.`
    case 'approval.waiting':
      return `An approval of ${workflow} waits for an answer.`
    case 'credential.needs_sign_in':
      return error ?? 'A credential needs a new sign-in.'
    case 'backup.overdue':
      return error ?? 'The scheduled backup is overdue.'
    case 'limit.reached':
      return error ?? `${workflow ?? 'The workspace'} has reached a limit.`
    case 'no_activity':
      return `${alert.name}: no activity.`
  }
}

type Facts = { workflow: string | undefined } & Pick<FiringContent, 'measured' | 'error'>

function ruleText(rule: AlertRule, { workflow = 'The workflows', measured, error }: Facts): string {
  const { runs, sum } = measured ?? { runs: 0, sum: 0 }
  switch (rule.type) {
    case 'consecutive_failures': {
      const times = sum === 1 ? 'failed' : `failed ${sum} times in a row`
      return `${workflow} ${times}${error ? `: ${error}` : '.'}`
    }
    case 'failure_rate': {
      const percent = runs === 0 ? 0 : Math.round((sum / runs) * 1000) / 10
      return `${percent} % of the runs of ${workflow} failed in ${durationText(rule.windowMs)} (${sum} of ${runs}).`
    }
    case 'latency':
      return (
        `${workflow} is slow: the percentile ${rule.percentile} of its duration in ${durationText(rule.windowMs)} is ` +
        `above ${durationText(rule.aboveMs)} (${sum} of ${runs} runs took longer).`
      )
    case 'cost':
      return `The runs cost ${sum.toFixed(2)} USD in ${durationText(rule.windowMs)}; the limit is ${rule.usd} USD.`
    case 'no_activity':
      return `No run of ${workflow === 'The workflows' ? 'any workflow' : workflow} has ended for ${durationText(rule.windowMs)}.`
  }
}

/** In the largest unit that gives a whole number, such as "90 minutes". */
export function durationText(ms: number): string {
  const [size, unit] = units.find(([each]) => ms >= each && ms % each === 0) ?? [1, 'ms']
  const count = ms / size
  if (unit === 'ms') return `${count} ms`
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
]
