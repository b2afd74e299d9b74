import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findValidationErrors } from '../../../../../src/domain/workflow/shape.ts'
import { AssistantRequest } from '../../../../../src/http/openapi/assistant-operation.ts'
import { messagesOf, type Turn } from '../../../../../src/ui/editor/assistant/conversation.ts'

const text = fc.oneof(
  fc.string(),
  fc.integer({ min: 0, max: 60_000 }).map((length) => 'x'.repeat(length)),
)
const turn: fc.Arbitrary<Turn> = fc.record({
  question: text.map((asked) => ({ text: asked === '' ? 'Why?' : asked })),
  parts: fc.array(
    text.map((said) => ({ kind: 'text' as const, text: said })),
    { maxLength: 4 },
  ),
  phase: fc.constantFrom('done', 'stopped'),
})

describe('the conversation that is sent', () => {
  test('always fits, with a question of any length after it', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
        const question = { role: 'user' as const, content: 'x'.repeat(20_000) }
        const messages = [...messagesOf(turns), question]
        expect(findValidationErrors(AssistantRequest, { messages })).toEqual([])
        const chars = messages.reduce((sum, { content }) => sum + content.length, 0)
        expect(chars).toBeLessThanOrEqual(100_000)
      }),
      { numRuns: 200 },
    )
  })

  test('has the latest turns, and the outcome of each proposal', () => {
    const asked = (at: number): Turn => ({
      question: { text: `Question ${at}` },
      parts: [
        { kind: 'tool', name: 'get_run', subject: '', status: 'succeeded' },
        { kind: 'text', text: `Reply ${at}` },
      ],
      phase: 'done',
      proposal: { changes: [], errors: 0, outcome: at % 2 === 0 ? 'applied' : 'discarded' },
    })
    const messages = messagesOf(Array.from({ length: 20 }, (_, at) => asked(at)))
    expect(messages[0]).toEqual({ role: 'user', content: 'Question 5' })
    expect(messages.slice(-3)).toEqual([
      { role: 'assistant', content: 'Reply 18\n(The proposed edits were applied.)' },
      { role: 'user', content: 'Question 19' },
      { role: 'assistant', content: 'Reply 19\n(The proposed edits were discarded.)' },
    ])
  })
})
