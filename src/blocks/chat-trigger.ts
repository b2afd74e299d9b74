import { Type as t } from '@sinclair/typebox'
import { ChatParameters } from '../domain/workflow/chat.ts'
import { defineBlock } from '../engine/block.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'

export const chatTrigger = defineBlock({
  type: 'chat_trigger',
  label: 'Chat',
  description: 'Starts the workflow with each chat message.',
  kind: 'trigger',
  starts: 'chat',
  isRepeatable: true,
  parameters: t.Object({ ...ChatParameters.properties, labels: Labels }),
  modes: {
    ...Object.fromEntries(Object.keys(ChatParameters.properties).map((name) => [name, 'literal' as const])),
    labels: 'own',
  },
  outputs: ['input', 'conversationId', 'history', 'files'],
  mayFail: false,
  givenAtSave: ['identifier'],
  registers: ({ identifier }) => (identifier ? { address: { kind: 'chat', name: identifier } } : {}),
  check({ access, password }, _facts, { labels }) {
    const findings = checkLabels(labels)
    if (access !== 'password' || password) return findings
    const message = 'Password is empty. Enter one, or choose another access.'
    return [...findings, { level: 'error', code: 'MISSING_PARAMETER', path: 'password', message }]
  },
  // The span shows no parameters, because they include the password.
  showInput: () => ({}),
  run({ labels }, context) {
    const outputs = { ...context.input.fields }
    labelWith(labels, outputs, context)
    return { outputs }
  },
})
