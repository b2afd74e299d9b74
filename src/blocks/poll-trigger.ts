import { type Static, Type as t } from '@sinclair/typebox'
import { isObject } from '../domain/run/input.ts'
import { defineBlock } from '../engine/block.ts'
import { check as checkRequest } from './api/parameters.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'
import { checkRhythm, everyMs, First, PollRequest, pollItemsMax, pollRegistration } from './poll/poll-parameters.ts'

const Parameters = t.Object({
  request: PollRequest,
  items: t.Optional(
    t.String({
      title: 'Items',
      description: 'The path of the list in the response, such as data.items. Empty: the response is the list.',
      maxLength: 1_000,
    }),
  ),
  id: t.Optional(
    t.String({
      title: 'ID',
      description:
        'The path in an item to the text or number that identifies it. Empty: an item that changes is a new one.',
      maxLength: 1_000,
    }),
  ),
  everyMs: everyMs('Default: 5 minutes.'),
  cron: t.Optional(t.String({ title: 'Cron', description: 'Instead of Every (ms): when to poll.' })),
  timezone: t.Optional(t.String({ title: 'Time zone', description: 'For Cron. Default: UTC.' })),
  first: First,
  maxItems: t.Integer({
    title: 'Most items',
    description: 'Later items of the list are ignored.',
    minimum: 1,
    maximum: pollItemsMax,
    default: pollItemsMax,
  }),
  labels: Labels,
})
export type PollParameters = Static<typeof Parameters>

export const pollTrigger = defineBlock({
  type: 'poll_trigger',
  label: 'Poll',
  description: 'Requests a list from a service at regular times, and starts the workflow for each new item.',
  kind: 'trigger',
  starts: 'poll',
  isRepeatable: true,
  parameters: Parameters,
  modes: {
    ...Object.fromEntries(Object.keys(Parameters.properties).map((name) => [name, 'literal' as const])),
    request: 'template',
    labels: 'own',
  },
  outputs: ['item'],
  mayFail: false,
  registers: (params) => pollRegistration('poll', rhythmOf(params), defaultMs, identityOf(params)),
  check: (params, _facts, { labels, request }) => [
    ...checkLabels(labels),
    ...checkRhythm(params),
    ...(isObject(request)
      ? checkRequest(request).map((finding) => ({ ...finding, path: `request.${finding.path}` }))
      : []),
  ],
  // The request may include secrets, which must not appear in logs.
  showInput: () => ({}),
  run({ labels }, context) {
    const outputs = { ...context.input.fields }
    labelWith(labels, outputs, context)
    return { outputs }
  },
})

function rhythmOf({ cron, everyMs, timezone }: PollParameters) {
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(timezone === undefined ? {} : { timezone }),
  }
}

/** Another page size or another credential still asks for the same list. */
function identityOf({ request, items = '', id = '' }: PollParameters): unknown[] {
  const { url, method = 'GET' } = request as { url: string; method?: unknown }
  return ['poll', method, url, items, id]
}

const defaultMs = 5 * 60_000
