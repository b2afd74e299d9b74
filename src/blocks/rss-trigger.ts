import { Type as t } from '@sinclair/typebox'
import { defineBlock } from '../engine/block.ts'
import { check as checkRequest } from './api/parameters.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'
import { everyMs, First, pollRegistration } from './poll/poll-parameters.ts'

const Parameters = t.Object({
  url: t.String({ title: 'URL', description: 'The address of an RSS, Atom or JSON feed.' }),
  everyMs: everyMs('Default: 15 minutes.'),
  first: First,
  credential: t.Optional(
    t.String({
      title: 'Credential',
      description: 'The name of a credential of the workspace. It is sent to its own hosts only.',
    }),
  ),
  labels: Labels,
})

export const rssTrigger = defineBlock({
  type: 'rss_trigger',
  label: 'RSS feed',
  description: 'Reads an RSS, Atom or JSON feed at regular times, and starts the workflow for each new entry.',
  kind: 'trigger',
  starts: 'rss',
  isRepeatable: true,
  parameters: Parameters,
  modes: { everyMs: 'literal', first: 'literal', labels: 'own' },
  outputs: ['item'],
  mayFail: false,
  registers: ({ url, everyMs }) =>
    pollRegistration('rss', everyMs === undefined ? {} : { everyMs }, defaultMs, ['rss', url]),
  check: ({ url }, _facts, { labels }) => [
    ...checkLabels(labels),
    ...(typeof url === 'string' ? checkRequest({ url }) : []),
  ],
  // The address may include a secret, which must not appear in logs.
  showInput: () => ({}),
  run({ labels }, context) {
    const outputs = { ...context.input.fields }
    labelWith(labels, outputs, context)
    return { outputs }
  },
})

const defaultMs = 15 * 60_000
