import { ChatParameters } from '../domain/workflow/chat.ts'
import { defineBlock } from '../engine/block.ts'

export const chatTrigger = defineBlock({
  type: 'chat_trigger',
  label: 'Chat',
  description: 'Starts the workflow with each chat message.',
  kind: 'trigger',
  starts: 'chat',
  isRepeatable: true,
  parameters: ChatParameters,
  modes: Object.fromEntries(Object.keys(ChatParameters.properties).map((name) => [name, 'literal' as const])),
  outputs: ['input', 'conversationId', 'history', 'files'],
  mayFail: false,
  givenAtSave: ['identifier'],
  registers: ({ identifier }) => (identifier ? { address: { kind: 'chat', name: identifier } } : {}),
  check({ access, password }) {
    if (access !== 'password' || password) return []
    const message = 'The access "password" needs a password. Set the parameter "password", or choose another access.'
    return [{ level: 'error', code: 'MISSING_PARAMETER', path: 'password', message }]
  },
  // The span shows no parameters, because they include the password.
  showInput: () => ({}),
  run: (_params, { input }) => ({ outputs: { ...input.fields } }),
})
