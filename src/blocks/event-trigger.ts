import { Type as t } from '@sinclair/typebox'
import {
  type AlertRule,
  alertBounds,
  type EventType,
  quietMsDefault,
  AlertRule as Rule,
} from '../domain/alert/alert.ts'
import { AlertEvents, AlertWorkflows, watchProblem } from '../domain/alert/alert-body.ts'
import { defineBlock } from '../engine/block.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'

const Parameters = t.Object({
  events: t.Optional({ ...AlertEvents, description: 'Any of them starts the workflow. Not needed with a rule.' }),
  workflows: {
    ...AlertWorkflows,
    description: '"all" for all other workflows of the workspace, or a list of their IDs, such as ["…"].',
    default: 'all',
  },
  rule: t.Optional({
    ...Rule,
    description: 'Starts the workflow when it holds, such as { "type": "consecutive_failures", "count": 3 }.',
  }),
  quietMs: t.Integer({
    title: 'Quiet time (ms)',
    description: 'For this time after a start, further events start nothing. 0: each event starts a run.',
    minimum: 0,
    maximum: alertBounds.quietMsMax,
    default: quietMsDefault,
  }),
})

export const eventTrigger = defineBlock({
  type: 'event_trigger',
  label: 'Event',
  description: 'Starts the workflow when something happens in the workspace, such as a failed run.',
  kind: 'trigger',
  starts: 'event',
  isRepeatable: true,
  parameters: t.Object({ ...Parameters.properties, labels: Labels }),
  modes: {
    ...Object.fromEntries(Object.keys(Parameters.properties).map((name) => [name, 'literal' as const])),
    labels: 'own',
  },
  outputs: ['type', 'workflowId', 'workflowName', 'executionId', 'error', 'rule', 'measured', 'suppressed', 'at'],
  mayFail: false,
  registers: ({ events = [], workflows, rule, quietMs }) => ({
    events: { events: events as EventType[], workflows, rule: (rule as AlertRule | undefined) ?? null, quietMs },
  }),
  respondsAtOnce: () => true,
  check: ({ events, rule }, _facts, { labels }) => {
    const problem = watchProblem((events ?? []) as string[], (rule as AlertRule | undefined) ?? null)
    const findings = problem ? [{ level: 'error' as const, code: 'INVALID_PARAMETER', ...problem }] : []
    return [...checkLabels(labels), ...findings]
  },
  showInput: ({ labels: _, ...shown }) => shown,
  run({ labels }, context) {
    const outputs = { ...context.input.fields }
    labelWith(labels, outputs, context)
    return { outputs }
  },
})
