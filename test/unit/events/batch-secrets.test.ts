import { describe, expect, test } from 'bun:test'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import { createFold } from '../../../src/events/batch.ts'
import { runRecord, span } from '../../support/events/run-record.ts'

const fold = createFold()

describe('secrets', () => {
  const secrets = createRedactor([
    { name: 'TOKEN', value: 'hunter22"' },
    { name: 'MODEL', value: 'private-model' },
    // Words that the format itself uses.
    ...['success', 'duration', 'children', 'workflow', 'startTime'].map((value) => ({ name: 'WORD', value })),
  ])!
  const said = 'It said: hunter22"'

  test('are removed from every text of the row', () => {
    const value = {
      header: 'Bearer hunter22"',
      body: JSON.stringify({ token: 'hunter22"' }),
      'hunter22"': btoa('hunter22"'),
    }
    const tokens = { prompt: 1, completion: 2, total: 3 }
    const model = { input: 1, output: 2, total: 3, tokens }
    const inner = span({
      name: said,
      input: value,
      output: value,
      error: { code: 'HTTP_ERROR', message: said },
      attempts: [{ number: 1, startTime: 0, durationMs: 1, error: said }],
    })
    const record = runRecord({
      secrets,
      output: value,
      cost: { total: 3, tokens, models: { 'private-model': model } },
      root: span({ type: 'workflow', input: value, children: [inner] }),
    })
    const row = fold(record, 1)
    expect(JSON.stringify(row)).not.toContain('hunter22')
    expect(JSON.stringify(row)).not.toContain(btoa('hunter22"').slice(0, 8))
    const hidden = { header: 'Bearer {{TOKEN}}', body: '{"token":"{{TOKEN}}"}', '{{TOKEN}}': '{{TOKEN}}' }
    expect(JSON.parse(row.finalOutput)).toEqual(hidden)
    expect(row.models).toEqual(['{{MODEL}}'])
    expect(JSON.parse(row.cost!)).toEqual({ total: 3, tokens, models: { '{{MODEL}}': model } })
    const [root] = JSON.parse(row.traceSpans)
    expect(root).toMatchObject({ status: 'success', type: 'workflow', input: hidden })
    expect(root.children[0]).toMatchObject({
      name: 'It said: {{TOKEN}}',
      status: 'success',
      input: hidden,
      error: { message: 'It said: {{TOKEN}}' },
      attempts: [{ error: 'It said: {{TOKEN}}' }],
      children: [],
    })
    expect(Object.keys(root)).toContain('duration')
  })

  test('are removed from the message of a failed run', () => {
    const failure = { code: 'EXECUTION_FAILED', message: said, blockId: 'b1', blockName: said } as const
    expect(JSON.parse(fold(runRecord({ secrets, failure }), 1).finalOutput)).toEqual({
      error: 'It said: {{TOKEN}}',
      code: 'EXECUTION_FAILED',
      blockId: 'b1',
      blockName: 'It said: {{TOKEN}}',
    })
  })

  test('are found before a value is cut to a preview', () => {
    for (let before = 1_000; before < 1_030; before += 1) {
      const record = runRecord({
        secrets,
        root: span({ input: `${'x'.repeat(before)}hunter22"${'y'.repeat(300_000)}` }),
      })
      const [root] = JSON.parse(fold(record, 1).traceSpans)
      expect(root.input.truncated).toBe(true)
      expect(root.input.preview).not.toContain('hun')
    }
  })

  test('stay only in the output for the caller of an asynchronous run', () => {
    const output = { token: 'hunter22"' }
    expect(fold(runRecord({ secrets, output, createdAt: 5 }), 1)).toMatchObject({
      finalOutput: '{"token":"{{TOKEN}}"}',
      rawOutput: '{"token":"hunter22\\""}',
    })
    expect(fold(runRecord({ secrets, output }), 1).rawOutput).toBeNull()
    expect(fold(runRecord({ secrets, createdAt: 5 }), 1).rawOutput).toBeNull()
    expect(fold(runRecord({ output, createdAt: 5 }), 1).rawOutput).toBeNull()
    const failure = { code: 'EXECUTION_FAILED', message: said, blockId: null, blockName: null } as const
    expect(fold(runRecord({ secrets, failure, createdAt: 5 }), 1).rawOutput).toBeNull()
  })
})
